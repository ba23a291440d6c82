// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_framer.h -- the receiving half of a connection without its socket: bytes in,
// frames out.
//
// The owner asks room() where to read to, reads, reports it to filled(), and calls parse(). A frame
// that lies complete in the block is delivered from there; for a large incomplete one the sink is
// asked for a place, and the rest is read straight into it (together with the beginning of what
// follows it: one system call). Pure: no I/O. Every byte is hostile until its checksum is verified.
// Ownership: the block is lent, and held only while bytes of an unfinished frame lie in it.
#pragma once

#include <array>
#include <memory>

#include "transports/interface/transport.h"
#include "transports/tcp/tcp_frame.h"

namespace livebtl::tcp {

/// Room for the largest frame plus a good read.
struct InBlock {
  std::array<std::byte, kPayloadBytesMax + (64u << 10)> bytes;
};

class Framer {
 public:
  /// Payloads above this are malformed; raised by trust().
  explicit Framer(std::size_t payload_bytes_max) noexcept : payload_bytes_max_(payload_bytes_max) {}

  void set_payload_bytes_max(std::size_t bytes) noexcept { payload_bytes_max_ = bytes; }

  bool has_block() const noexcept { return block_ != nullptr; }
  void lend(std::unique_ptr<InBlock> block) noexcept;
  /// The block, if nothing lies in it; else null.
  std::unique_ptr<InBlock> give_back() noexcept;

  /// The block, whatever lies in it; what was not delivered is lost.
  std::unique_ptr<InBlock> drop() noexcept;

  /// Where to read to, in this order; the second piece may be empty. Requires: has_block().
  std::array<MutableBytes, 2> room() noexcept;
  void filled(std::size_t bytes) noexcept;

  enum class Stop : std::uint8_t { kNeedBytes, kBudget, kCorrupt };
  /// Delivers at most frames_max frames, and adds them to `frames`. After kCorrupt, corruption()
  /// says why and nothing more is delivered.
  Stop parse(core::EndpointSink& sink, std::size_t frames_max, std::size_t& frames) noexcept;
  /// Puts the rest of a payload that is being placed into memory of our own.
  void own_place() noexcept;
  const char* corruption() const noexcept { return corruption_; }

  /// Header and payload bytes delivered so far.
  std::uint64_t bytes_delivered() const noexcept { return bytes_delivered_; }

 private:
  enum class Step : std::uint8_t { kFrame, kNeedBytes, kCorrupt };
  Step step(core::EndpointSink& sink) noexcept;
  Step check_head() noexcept;
  void ask_place(core::EndpointSink& sink) noexcept;
  Step deliver(core::EndpointSink& sink, Bytes payload) noexcept;
  void next_frame(std::size_t consumed) noexcept;
  Step corrupt(const char* why) noexcept;

  Bytes held() const noexcept { return Bytes(block_->bytes).subspan(begin_, end_ - begin_); }
  std::size_t head_bytes() const noexcept { return sizeof(Prelude) + prelude_.header_bytes; }
  Bytes header() const noexcept { return held().subspan(sizeof(Prelude), prelude_.header_bytes); }

  std::unique_ptr<InBlock> block_;
  std::size_t begin_ = 0;  // of the current frame, in the block
  std::size_t end_ = 0;  // of what was read. If placing: the header, then what follows the payload
  bool head_checked_ = false;
  bool asked_ = false;  // on_place was called for this frame
  Prelude prelude_;     // of the current frame; valid if head_checked_
  MutableBytes place_;  // not empty: the payload goes here
  std::size_t placed_bytes_ = 0;
  Blob own_place_;
  std::size_t payload_bytes_max_;
  std::size_t read_bytes_ = kReadBytesMin;
  std::size_t last_room_bytes_ = 0;
  const char* corruption_ = nullptr;
  std::uint64_t bytes_delivered_ = 0;

  // A read that finds a large frame should not have taken much of it into the block already; a read
  // in a stream of small frames should take many. So reads begin small, grow while they are filled,
  // and shrink at a large frame.
  static constexpr std::size_t kReadBytesMin = 4u << 10;
  static constexpr std::size_t kReadBytesMax = 64u << 10;
  static constexpr std::size_t kPlaceBytesMin = 4u << 10;
};

}  // namespace livebtl::tcp
