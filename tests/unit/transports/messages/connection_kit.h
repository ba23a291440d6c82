// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/messages/connection_kit.h -- one end of a connection of messages; the test
// plays its device and its peer.
#pragma once

#include <doctest/doctest.h>

#include <deque>

#include "transports/messages/connection.h"

namespace livebtl::messages {

inline constexpr std::uint32_t kGrantsMax = 128;

/// What a connection asks of its endpoint, and tells its owner.
struct Side final : DeviceSide, core::EndpointSink {
  struct Control {
    Kind kind;
    std::uint32_t granted, read;
  };

  bool post_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept override {
    if (!takes) return false;
    sent.push_back({kind, granted, read});
    return true;
  }
  bool control_under_way() const noexcept override { return under_way; }
  void settle_later() noexcept override { ++later; }
  void send_bye() noexcept override { bye_sent = connection->send_control(Kind::kBye); }
  void release() noexcept override {
    released = true;
    CHECK(connection->is_down());
  }

  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes header, Bytes) noexcept override { frames.push_back(header.size()); }
  void on_sent(std::uint64_t cookie) noexcept override {
    cookies.push_back(cookie);
    if (let_go_of != nullptr) let_go_of->clear();
  }
  void on_down(const Error& error) noexcept override {
    CHECK(released);
    ++downs;
    why = error;
  }

  Connection* connection = nullptr;
  bool takes = true, under_way = false, bye_sent = false, released = false;
  int later = 0, downs = 0;
  std::deque<Control> sent;
  std::vector<std::size_t> frames;
  std::vector<std::uint64_t> cookies;
  std::vector<ExposedBuffer<int>>* let_go_of = nullptr;
  Error why;
};

/// One end; the test is its peer.
struct End {
  using Taken = Connection::Taken;

  explicit End(bool dialled = true, std::uint32_t peer_credits = 10) {
    side.connection = &connection_of(dialled);
    connection->attach(side);
    connection->meet(peer_credits, true, " -> peer");
    if (dialled)
      connection->dialled({}, 1);
    else
      connection->heard(1);
    connection->trust();
  }
  Connection& connection_of(bool dialled) {
    credits.add_buffers(kSharedBuffers + kCreditFloor);
    return connection.emplace(side, credits, dialled, "end", kGrantsMax, 0);
  }
  /// Takes the peer's next message, which grants us that much in all.
  Taken take(const Blob& message) {
    const Taken taken = connection->take(message, special);
    if (taken != Taken::kExposed) freed();
    return taken;
  }
  void freed() {
    connection->buffer_freed();
    connection->tell();
  }
  Taken control(Kind kind, std::uint32_t granted, std::uint32_t read = 0) {
    Blob message(sizeof(Head));
    encode_control(kind, granted, read, message.data());
    return take(message);
  }
  Taken frame(std::uint32_t granted) {
    Blob message(sizeof(Head) + header.size());
    encode_frame({header, {}, 0, false}, granted, true, message.data());
    return take(message);
  }
  void send() {
    REQUIRE(connection->may_send());
    connection->frame_sent({header, {}, 0, false});
  }

  const Blob header = Blob(8, std::byte{1});
  Side side;
  Credits credits;
  std::optional<Connection> connection;
  Message special;
};

inline Blob exposed_message() {
  const Blob header(8, std::byte{1}), where(kWhereBytesMax, std::byte{2});
  Blob message(sizeof(Head) + header.size() + where.size());
  encode_exposed(header, where, 10, message.data());
  return message;
}

}  // namespace livebtl::messages
