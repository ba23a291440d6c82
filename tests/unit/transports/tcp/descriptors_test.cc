// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/descriptors_test.cc -- tcp where a child of the process also holds its
// sockets, and where the process is nearly out of descriptors.
#include <doctest/doctest.h>

#include "tests/unit/control/agent/few_descriptors.h"
#include "tests/unit/transports/copied_descriptors.h"
#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"
#include "transports/tcp/tcp_dialler.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Side;
using test::falls_asleep;
using test::FewDescriptors;
using test::readable;

/// A side that dials `to`, and the other end of the connection.
struct DialledSocket {
  explicit DialledSocket(const kit::Listener& to) {
    Reachable peer;
    peer.network = network_hash();
    peer.node = 2;
    peer.sockets = {to.where()};
    auto dialled = side.transport->connect(encode_address(peer));
    REQUIRE(dialled.has_value());
    end.take(std::move(*dialled));
    const TimeNs deadline = monotonic_now() + conformance::kDeadlineNs;
    while (!other && monotonic_now() < deadline) {
      side.turn();
      other = to.accept();
    }
    REQUIRE(other);
    side.turn();
  }

  const conformance::Subject subject = kit::two_nodes();
  Side side{*subject.make(1)};
  End end;
  Fd other;
};

TEST_CASE("a dial that was given up keeps nobody awake, though a child here holds its socket") {
  const kit::Listener silent;
  DialledSocket dial(silent);
  const test::CopiedDescriptors child({dial.other.number()});
  SUBCASE("by its owner") { dial.end.close(); }
  SUBCASE("since nobody answered") {
    dial.side.ahead = kPreambleLimitNs;
    for (int i = 0; i < 100; ++i) dial.side.turn();
    REQUIRE(dial.end.downs.size() == 1);
  }
  CHECK(falls_asleep(dial.side));
  dial.other.reset();
  CHECK(falls_asleep(dial.side));
}

Result<std::unique_ptr<TcpTransport>> make_on_one_node(const Settings& settings = {}) {
  core::NodeFacts facts;
  facts.process = ProcessId{1};
  facts.node = 1;
  facts.one_node = true;
  facts.settings = &settings;
  return TcpTransport::make(facts);
}

Blob another_node() {
  Reachable peer;
  peer.network = network_hash();
  peer.node = 2;
  peer.sockets = {{*parse_ip("127.0.0.1"), 4242}};
  return encode_address(peer);
}

/// 127.0.0.2 stands for another interface.
bool connects_to(const core::Transport& transport, const char* ip) {
  const auto probe = start_connect({*parse_ip(ip), kit::listening_port(transport)}, {});
  if (!probe) return false;
  pollfd answered{probe->number(), POLLOUT, 0};
  return ::poll(&answered, 1, 20'000) == 1 && connect_error(probe->number()) == 0;
}

TEST_CASE("with the last descriptors it listens, and moves to all interfaces") {
  Result<std::unique_ptr<TcpTransport>> made = tl::unexpected(Error{});
  {
    const FewDescriptors epoll_timer_and_listener(3);
    made = make_on_one_node();
    REQUIRE(made);
    CHECK_FALSE((*made)->expect(another_node()));
  }
  CHECK(connects_to(**made, "127.0.0.2"));
}

/// What it tells others once it can open no descriptor, not even in place of those that it closes.
std::vector<Blob> told_without_a_listener(Side& side) {
  core::Transport& transport = *side.transport;
  const Blob elsewhere = another_node();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool changed = transport.expect(elsewhere) || transport.expect(elsewhere);
  side.turn();
  std::vector<Blob> told{transport.address(), transport.contact()};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(changed);
  return told;
}

TEST_CASE("a listener that cannot be opened again is told of, and opened when it can be") {
  auto made = make_on_one_node();
  REQUIRE(made);
  Side side(std::move(*made));
  core::Transport& transport = *side.transport;
  const std::vector<Blob> before{transport.address(), transport.contact()};
  const bool as_before = told_without_a_listener(side) == before;
  CHECK(as_before);
  REQUIRE(transport.arm());
  REQUIRE(readable(transport.wait_fd(), 60'000));  // a sleeping process is woken to try
  side.ahead = kSecond;
  side.turn();
  CHECK(connects_to(transport, "127.0.0.1"));
  CHECK(connects_to(transport, "127.0.0.2"));
  CHECK(transport.address() == before[0]);
}

TEST_CASE("a port that somebody else has taken meanwhile is listened on when it is free") {
  Settings settings;
  settings.tcp_port = kit::Listener().where().port;
  auto made = make_on_one_node(settings);
  REQUIRE(made);
  Side side(std::move(*made));
  core::Transport& transport = *side.transport;
  const Blob address = transport.address();
  told_without_a_listener(side);
  auto stranger = listen_at(*parse_ip("127.0.0.1"), settings.tcp_port, {});
  REQUIRE(stranger);
  side.ahead = kSecond;
  side.turn();
  CHECK_FALSE(connects_to(transport, "127.0.0.2"));
  CHECK(transport.address() == address);
  stranger->reset();
  side.ahead = 2 * kSecond;
  side.turn();
  CHECK(connects_to(transport, "127.0.0.2"));
}

TEST_CASE("without a descriptor, not even a spare one, the door rests, and lets in later") {
  const conformance::Subject subject = kit::two_nodes();
  std::unique_ptr<Side> side;
  {
    const FewDescriptors epoll_timer_and_listener(3);
    auto made = subject.make(1);
    REQUIRE(made);
    side = std::make_unique<Side>(std::move(*made));
  }
  const kit::Stranger waiting(kit::where(*side));
  waiting.say(encode_preamble(2));
  {
    const FewDescriptors none(0);
    CHECK(falls_asleep(*side));
  }
  side->ahead = kSecond;
  for (int i = 0; i < 100; ++i) side->turn();
  CHECK(side->accepted.size() == 1);
}

}  // namespace
}  // namespace livebtl::tcp
