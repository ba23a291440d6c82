// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/front_test.cc -- a relay's tcp side: connections with proof and without.
#include "control/relay/front.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "control/wire/zmq_socket.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

Secret some_secret() {
  std::array<std::byte, 32> key{};
  key.fill(std::byte{7});
  return Secret(key);
}

/// ZeroMQ behind a front; all on this thread.
struct Relaying {
  explicit Relaying(const FrontLimits& limits = {}, std::uint16_t port = 0) {
    auto made = make_zmq_context(16);
    REQUIRE(made);
    context = std::make_unique<zmq::context_t>(std::move(*made));
    auto opened_gate = ZmqGate::open(*context, some_secret());
    REQUIRE(opened_gate);
    gate.emplace(std::move(*opened_gate));
    auto listening = ZmqSocket::listen(*context, "ipc://" + inner, some_secret());
    REQUIRE(listening);
    socket.emplace(std::move(*listening));
    auto opened = Front::open({"127.0.0.1"}, port, inner, limits);
    REQUIRE(opened);
    front.emplace(std::move(*opened));
  }
  std::uint16_t port() const {
    const std::string& relay = front->relay();
    return *parse_number<std::uint16_t>(std::string_view(relay).substr(relay.rfind(':') + 1));
  }
  /// A stranger's connection.
  Fd connect() const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    return fd;
  }
  void turn(TimeNs now = 0) {
    front->turn(now);
    gate->serve();
  }
  /// Turns until `condition` holds; the limit only ends a test that has failed.
  template <class Condition>
  bool eventually(const Condition& condition, TimeNs now = 0) {
    const TimeNs deadline = monotonic_now() + 20 * kSecond;
    while (monotonic_now() < deadline) {
      turn(now);
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// A member of the job sends a message until it is received.
  bool speaks(ZmqSocket& caller, const std::string& body) {
    return eventually([&] {
      caller.send({.peer = "", .back = "", .to = "", .body = body});
      while (const auto envelope = socket->receive()) {
        if (envelope->body == body) return true;
      }
      return false;
    });
  }
  ZmqSocket caller() {
    auto made = ZmqSocket::connect(*context, front->relay(), some_secret());
    REQUIRE(made);
    return std::move(*made);
  }

  Scratch scratch;
  std::string inner = scratch / "inner";
  std::unique_ptr<zmq::context_t> context;  // outlives the sockets
  std::optional<ZmqGate> gate;
  std::optional<ZmqSocket> socket;
  std::optional<Front> front;
};

bool hung_up(const Fd& fd) {
  pollfd end{fd.number(), POLLIN, 0};
  char byte = 0;
  return ::poll(&end, 1, 0) > 0 && ::recv(fd.number(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) <= 0;
}

}  // namespace

TEST_CASE("1,500 silent connections take a bounded number of descriptors, and keep nobody out") {
  Relaying relaying;
  std::vector<Fd> silent;
  for (int i = 0; i < 1500; ++i) {
    silent.push_back(relaying.connect());
    if (i % 100 == 0) relaying.turn();
  }
  ZmqSocket caller = relaying.caller();
  CHECK(relaying.speaks(caller, "let me in"));
  CHECK(relaying.front->connections() <= FrontLimits{}.unproved_of_source + 1);
}

TEST_CASE("a connection that was let in stays, however many strangers come, and is not timed out") {
  Relaying relaying({.unproved = 8, .unproved_of_source = 8, .all = 12, .unproved_for = kSecond});
  ZmqSocket caller = relaying.caller();
  REQUIRE(relaying.speaks(caller, "first"));
  REQUIRE(relaying.front->unproved() == 0);
  std::vector<Fd> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(relaying.connect());
    relaying.turn();
  }
  CHECK(relaying.front->unproved() == 8);
  CHECK(relaying.front->connections() == 9);
  CHECK(relaying.front->wake_at() == kSecond);
  relaying.turn(2 * kSecond);
  CHECK(relaying.front->unproved() == 0);
  CHECK(relaying.front->connections() == 1);
  CHECK(relaying.speaks(caller, "second"));
}

TEST_CASE("who has begun to prove itself is kept longer than who is silent") {
  Relaying relaying({.unproved = 4, .unproved_of_source = 4, .all = 16, .unproved_for = kSecond});
  const Fd speaks = relaying.connect();
  REQUIRE(::send(speaks.number(), "\xff", 1, 0) == 1);
  // ZeroMQ's greeting shows that the byte was passed on.
  CHECK(relaying.eventually([&] {
    pollfd heard{speaks.number(), POLLIN, 0};
    return ::poll(&heard, 1, 0) > 0;
  }));
  std::vector<Fd> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(relaying.connect());
    relaying.turn();
  }
  CHECK_FALSE(hung_up(speaks));
  CHECK(relaying.eventually([&] { return hung_up(silent.front()); }));
}

TEST_CASE("a relay that begins anew has the port of the one before, or another if that is taken") {
  Relaying first;
  const std::uint16_t port = first.port();
  CHECK(Relaying({}, port).port() != port);
  first.front.reset();
  CHECK(Relaying({}, port).port() == port);
}

TEST_CASE("READY is seen however the bytes arrive, and in nothing else") {
  const std::string greeting(64, '\x05');
  const std::string welcome = std::string("\x04\x0b\x07WELCOME", 10) + "xyz";
  const std::string ready = std::string("\x04\x08\x05READY", 8) + "zz";
  const std::string data = std::string("\x00\x08\x05READY", 8) + "zz";
  ZmtpProof whole;
  whole.hear(greeting + welcome + ready);
  CHECK(whole.proved());
  ZmtpProof bytewise;
  for (const char c : greeting + welcome + ready) {
    CHECK_FALSE(bytewise.proved());
    bytewise.hear({&c, 1});
  }
  CHECK(bytewise.proved());
  for (const std::string& other :
       {greeting + welcome, greeting + data, ready, greeting + ready.substr(0, 9)}) {
    ZmtpProof proof;
    proof.hear(other);
    CHECK_FALSE(proof.proved());
  }
  ZmtpProof endless;
  for (int i = 0; i < 1000; ++i) endless.hear(std::string(100, '\xff'));
  CHECK_FALSE(endless.proved());
}
