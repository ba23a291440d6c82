// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/frame_kit.h -- messages, their bytes on the wire, and a sink that
// records what arrived.
#pragma once

#include <vector>

#include "base/random.h"
#include "transports/tcp/tcp_frame.h"

namespace livebtl::tcp::kit {

struct Message {
  Blob header;
  Blob payload;
  friend bool operator==(const Message&, const Message&) = default;
};

inline Blob noise(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  Blob bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() >> 56);
  return bytes;
}

inline Message message(std::uint64_t seed, std::size_t header_bytes, std::size_t payload_bytes) {
  return {noise(seed, header_bytes), noise(seed + 1000, payload_bytes)};
}

inline Blob encode(const std::vector<Message>& messages, bool payload_crc) {
  ByteWriter writer;
  for (const Message& message : messages) {
    Head head;
    encode_head({message.header, message.payload, 0, false}, payload_crc, head);
    writer.put_bytes(head.view());
    writer.put_bytes(message.payload);
  }
  return writer.take();
}

class FrameLog final : public core::EndpointSink {
 public:
  MutableBytes on_place(Bytes, std::size_t payload_bytes, bool to_be_checked) noexcept override {
    have_checksums = to_be_checked;
    if (place_every == 0 || ++asked % place_every != 0) return {};
    ++placed;
    place.assign(payload_bytes + 10, std::byte{0xEE});
    return place;
  }
  void on_frame(Bytes header, Bytes payload) noexcept override {
    messages.push_back({Blob(header.begin(), header.end()), Blob(payload.begin(), payload.end())});
  }
  void on_sent(std::uint64_t cookie) noexcept override { sent.push_back(cookie); }
  void on_down(const Error& why) noexcept override { downs.push_back(why); }

  std::vector<Message> messages;
  std::vector<std::uint64_t> sent;
  std::vector<Error> downs;
  Blob place;
  int place_every = 0;          // 0: never a place
  bool have_checksums = false;  // of the last payload a place was asked for
  int asked = 0;
  int placed = 0;
};

}  // namespace livebtl::tcp::kit
