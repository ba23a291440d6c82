// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/exposed.h -- zero-copy reads, as far as the devices share them: our buffers
// that are exposed to a peer until it has read them, and the reading of one of the peer's. Pure.
//
// `Remote` is how a device describes an exposed buffer on the wire (docs/WIRE.md): address, key,
// bytes, crc_given, crc.
#pragma once

#include <array>

#include "base/crc32c.h"
#include "transports/messages/message.h"

namespace livebtl::messages {

/// Payloads from min to max can be exposed. Registering and deregistering memory at both ends, and
/// reporting the read, takes some ten to twenty microseconds: as long as copying 128 KiB twice.
inline constexpr std::uint32_t kExposedBytesMin = 128u << 10;
/// Registering 512 KiB and computing its checksum takes less than the 100 us for which the engine
/// may be held.
inline constexpr std::uint32_t kExposedBytesMax = 512u << 10;
/// Buffers that an endpoint exposes at a time: enough that the peer never waits for the next.
inline constexpr std::uint32_t kExposedMax = 4;

/// A buffer of ours, which the peer reads where it lies.
template <class Registration>
struct ExposedBuffer {
  Registration registration;
  std::uint64_t cookie = 0;  // of its frame
};

template <class Remote>
Remote describe_exposed(std::uint64_t address, decltype(Remote::key) key, Bytes memory,
                        bool with_crc) noexcept {
  Remote remote;
  remote.address = address;
  remote.key = key;
  remote.bytes = static_cast<std::uint32_t>(memory.size());
  remote.crc_given = with_crc ? 1 : 0;
  if (with_crc) remote.crc = crc32c(memory);
  return remote;
}

/// The payload of a kExposed message. Hostile. nullopt: it makes no sense.
template <class Remote>
std::optional<Remote> decode_exposed(Bytes payload) noexcept {
  static_assert(sizeof(Remote) <= kWhereBytesMax);
  if (payload.size() != sizeof(Remote)) return std::nullopt;
  Remote remote;
  std::memcpy(&remote, payload.data(), sizeof remote);
  const bool sane = remote.bytes >= kExposedBytesMin && remote.bytes <= kExposedBytesMax &&
                    remote.crc_given <= 1 && (remote.crc_given != 0 || remote.crc == 0);
  return sane ? std::optional(remote) : std::nullopt;
}

/// Progress in reading an exposed buffer: in steps, one at a time.
template <class Remote>
class ReadProgress {
 public:
  ReadProgress(Bytes header, const Remote& remote) noexcept
      : header_bytes_(static_cast<std::uint8_t>(header.size())), remote_(remote) {
    copy_small(header_.data(), header.data(), header.size());
  }

  /// Of the frame.
  Bytes header() const noexcept { return {header_.data(), header_bytes_}; }
  std::uint32_t bytes() const noexcept { return remote_.bytes; }
  bool is_intact(Bytes payload) const noexcept {
    return remote_.crc_given == 0 || crc32c(payload) == remote_.crc;
  }

  std::uint32_t done() const noexcept { return done_; }
  std::uint32_t left() const noexcept { return remote_.bytes - done_; }
  std::uint64_t next_address() const noexcept { return remote_.address + done_; }
  auto key() const noexcept { return remote_.key; }
  void begin_step(std::uint32_t bytes) noexcept { step_ = bytes; }
  std::uint32_t step() const noexcept { return step_; }
  bool under_way() const noexcept { return step_ != 0; }
  /// true: all is there.
  bool end_step() noexcept {
    done_ += step_;
    step_ = 0;
    return left() == 0;
  }
  /// The step has failed.
  void fail_step() noexcept { step_ = 0; }

 private:
  std::uint8_t header_bytes_;
  std::array<std::byte, core::kHeaderBytesMax> header_;
  Remote remote_;
  std::uint32_t done_ = 0;  // bytes read so far
  std::uint32_t step_ = 0;  // bytes of the read under way
};

}  // namespace livebtl::messages
