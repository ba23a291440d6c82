// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/qmp/json_line_socket_test.cc -- lines from an untrusted peer: bounded,
// checked, and never waited for beyond the deadline.
#include <thread>

#include "tests/unit/hypervisor/qmp/scripted_peer.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE("lines come whole, however they were cut") {
  ScriptedPeer peer;
  auto socket = peer.socket();
  peer.says("{\"a\":");
  const auto early = socket.receive(none_left());
  REQUIRE_FALSE(early);
  CHECK(early.error().code == Errc::kTimeout);
  peer.says("1}\n{\"b\":2}\n{");
  CHECK((*socket.receive(long_enough()))["a"] == 1);
  CHECK((*socket.receive(long_enough()))["b"] == 2);
  peer.hangs_up();
  const auto late = socket.receive(long_enough());
  REQUIRE_FALSE(late);
  CHECK(late.error().code == Errc::kDown);
}

TEST_CASE("what is no object is refused, and the next line is read") {
  ScriptedPeer peer;
  auto socket = peer.socket();
  const std::vector<std::string> wrong = {
      "",
      "null",
      "[1]",
      "\"text\"",
      "{\"a\"",
      "\x01\x02",
      "{\"a\":\"\xc3\"}",
      std::string(100, '['),
      "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"};
  for (const auto& line : wrong) peer.says_line(line);
  peer.says_line("\xff{\"id\":7}");
  for (const auto& line : wrong) {
    const auto heard = socket.receive(long_enough());
    CAPTURE(line);
    REQUIRE_FALSE(heard);
    CHECK(heard.error().code == Errc::kCorrupt);
  }
  CHECK((*socket.receive(long_enough()))["id"] == 7);
}

TEST_CASE("a line without end is given up") {
  ScriptedPeer peer;
  auto socket = peer.socket();
  std::atomic<bool> over{false};
  std::thread talker([&] {
    const std::string block(1U << 16, 'x');
    while (!over.load()) {
      if (!peer.says_what_fits(block)) std::this_thread::yield();
    }
  });
  const auto heard = socket.receive(long_enough());
  over.store(true);
  talker.join();
  REQUIRE_FALSE(heard);
  CHECK(heard.error().code == Errc::kLimit);
}

TEST_CASE("after the deadline no line is given out, though some are here already") {
  ScriptedPeer peer;
  auto socket = peer.socket();
  for (int i = 0; i < 3; ++i) peer.says_line(R"({"a":1})");
  REQUIRE(socket.receive(long_enough()));
  CHECK(socket.receive(none_left()).error().code == Errc::kTimeout);
  const std::atomic<bool> stop{true};
  CHECK(socket.receive({long_enough().at, &stop}).error().code == Errc::kCancelled);
  CHECK(socket.receive(long_enough()));  // the line is still there
}

TEST_CASE("an interrupted wait ends") {
  ScriptedPeer peer;
  auto socket = peer.socket();
  const std::atomic<bool> stop{true};
  const auto heard = socket.receive({long_enough().at, &stop});
  REQUIRE_FALSE(heard);
  CHECK(heard.error().code == Errc::kCancelled);
}

TEST_CASE("a path without a listener, or no path, is an error that names it") {
  const auto nobody = JsonLineSocket::connect("/nonexistent/vm.qmp", long_enough());
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == Errc::kNotFound);
  CHECK(nobody.error().text.find("/nonexistent/vm.qmp") != std::string::npos);
  const auto folder = JsonLineSocket::connect("/tmp/", long_enough());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == Errc::kInvalid);
}

TEST_CASE("texts for people have one line and an end") {
  CHECK(one_line("a\nb\x1b[2J\n") == "a b [2J");
  CHECK(one_line(std::string(5000, 'a')).size() < 700);
  for (const char* control :
       {"\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u2028", "\u061c", "\xc2\x9b"})
    CHECK(one_line(std::string("a") + control + "b") == "a b");
  for (const char* text : {"caf\u00e9 \u2013 \u20ac", "\xe2\x80", "\xe2", "\xff"})
    CHECK(one_line(text) == text);
}
