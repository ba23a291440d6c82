// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/local_link_test.cc -- a local connection to a hostile, slow or gone peer.
#include "control/wire/local_link.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>

#include "some_envelope.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

struct Pair {
  Pair() {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) == 0);
    raw = Fd(fds[1]);
    link.emplace(Fd(fds[0]));
  }
  void say(std::string_view bytes) const {
    REQUIRE(::send(raw.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  Fd raw;
  std::optional<LocalLink> link;
};

}  // namespace

TEST_CASE("whoever sends rubbish, half a packet, or one that is too long is hung up on") {
  const std::string whole = *format_local(envelope_of("body"));
  for (const std::string& bytes :
       {std::string("rubbish"), whole.substr(0, 12), head(1, 0xffff, 0xffff),
        std::string(kLocalPacketMax + 1, '\1'), std::string(1, '\0')}) {
    Pair pair;
    pair.say(whole);
    pair.say(bytes);
    pair.say(whole);
    CHECK(pair.link->receive()->body == "body");  // what came before still counts
    CHECK_FALSE(pair.link->receive());
    CHECK(pair.link->closed());
    CHECK_FALSE(pair.link->send(envelope_of("answer")));
  }
}

TEST_CASE("the end of the other side is noticed, after what it said, and raises no signal") {
  Pair pair;
  pair.say(*format_local(envelope_of("last words")));
  pair.raw.reset();
  CHECK_FALSE(pair.link->send(envelope_of("too late")));  // SIGPIPE would end the test
  CHECK(pair.link->receive()->body == "last words");
  CHECK_FALSE(pair.link->receive());
  CHECK(pair.link->closed());
}

TEST_CASE("what a slow reader does not take is kept in order, up to a bound, and never blocks") {
  Pair pair;
  const std::string padding(2000, 'p');
  int sent = 0;
  while (pair.link->send(envelope_of(std::to_string(sent) + " " + padding))) {
    ++sent;
    REQUIRE(sent < 100'000);
  }
  CHECK((pair.link->wanted().events & POLLOUT) != 0);
  LocalLink reader(std::move(pair.raw));
  for (int i = 0; i < sent; ++i) {
    auto envelope = reader.receive();
    if (!envelope) {
      pair.link->flush();
      envelope = reader.receive();
    }
    REQUIRE(envelope);
    CHECK(envelope->body.substr(0, envelope->body.find(' ')) == std::to_string(i));
  }
  CHECK(pair.link->wanted().events == POLLIN);
}

TEST_CASE("nobody listening, and a path that is too long, are told apart") {
  const Scratch scratch;
  const auto nobody = LocalLink::connect(scratch / "nobody");
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == Errc::kUnreachable);
  const auto long_path = LocalLink::connect(scratch / std::string(200, 'x'));
  REQUIRE_FALSE(long_path);
  CHECK(long_path.error().code == Errc::kSystem);
}
