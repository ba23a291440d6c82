// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/listening_test.cc -- where a process listens while its whole job is on
// one node, and when it begins to let others in.
#include <doctest/doctest.h>
#include <netinet/tcp.h>
#include <poll.h>

#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"

namespace livebtl::tcp {
namespace {

constexpr std::uint64_t kNode = 1;

Result<std::unique_ptr<TcpTransport>> make_at_home(const Settings& settings = {}) {
  core::NodeFacts facts;
  facts.process = ProcessId{1};
  facts.node = kNode;
  facts.one_node = true;
  facts.settings = &settings;
  return TcpTransport::make(facts);
}

std::unique_ptr<TcpTransport> at_home() {
  auto made = make_at_home();
  REQUIRE(made);
  return std::move(*made);
}

/// 127.0.0.2 plays another interface: it is this machine's, but not what loopback() names.
bool lets_in(const core::Transport& transport, const char* ip) {
  const auto probe = start_connect({*parse_ip(ip), kit::listening_port(transport)}, {});
  if (!probe) return false;
  pollfd answered{probe->number(), POLLOUT, 0};
  return ::poll(&answered, 1, 20'000) == 1 && connect_error(probe->number()) == 0;
}

Reachable told(std::uint64_t node, std::uint64_t network, const char* ip) {
  Reachable peer;
  peer.node = node;
  peer.network = network;
  peer.sockets = {{*parse_ip(ip), 4242}};
  return peer;
}

TEST_CASE("while all of the job is on this node tcp lets in nobody from outside of the machine") {
  const auto made = at_home();
  CHECK(lets_in(*made, "127.0.0.1"));
  CHECK_FALSE(lets_in(*made, "127.0.0.2"));
}

TEST_CASE("whoever may be on another node is expected on all interfaces, at the port of before") {
  const std::uint64_t here = network_hash();
  const Reachable node = told(kNode + 1, here, "127.0.0.1");
  const Reachable network = told(kNode, here ^ 1, "127.0.0.1");
  const Reachable machine = told(kNode, here, "198.51.100.7");  // a documentation address
  for (const Blob& elsewhere : {encode_address(node), encode_address(network),
                                encode_contact(network), encode_contact(machine)}) {
    const auto made = at_home();
    const Blob address = made->address(), contact = made->contact();
    CHECK_FALSE(made->expect(elsewhere));  // what others were told stays true
    CHECK(lets_in(*made, "127.0.0.2"));
    CHECK(made->address() == address);
    CHECK(made->contact() == contact);
  }
}

int option(const Fd& socket, int level, int name) {
  int value = 0;
  socklen_t bytes = sizeof(value);
  REQUIRE(::getsockopt(socket.number(), level, name, &value, &bytes) == 0);
  return value;
}

TEST_CASE("a connection has its options from the socket that accepted it") {
  const SocketOptions options;
  const auto listener = listen_at(*parse_ip("127.0.0.1"), 0, options);
  REQUIRE(listener);
  const auto dialled = start_connect(*local_end(listener->number()), options);
  REQUIRE(dialled);
  pollfd come{listener->number(), POLLIN, 0};
  REQUIRE(::poll(&come, 1, 20'000) == 1);
  const Fd accepted(::accept4(listener->number(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(accepted);
  for (const Fd* end : {&*dialled, &accepted}) {
    CHECK(option(*end, IPPROTO_TCP, TCP_NODELAY) != 0);
    CHECK(option(*end, SOL_SOCKET, SO_KEEPALIVE) != 0);
    CHECK(option(*end, IPPROTO_TCP, TCP_KEEPIDLE) == options.keepalive_idle_s);
    CHECK(option(*end, IPPROTO_TCP, TCP_KEEPINTVL) == options.keepalive_idle_s / 4);
    CHECK(option(*end, IPPROTO_TCP, TCP_USER_TIMEOUT) == options.user_timeout_ms);
  }
}

TEST_CASE("those on this node, and rubbish, change nothing of that") {
  const auto made = at_home();
  const auto other = at_home();
  const Reachable here = told(kNode, network_hash(), "127.0.0.1");
  for (const Blob& address : {other->address(), other->contact(), encode_contact(here), Blob{},
                              Blob(3, std::byte{0xff})}) {
    CHECK_FALSE(made->expect(address));
  }
  CHECK_FALSE(lets_in(*made, "127.0.0.2"));
}

TEST_CASE("if the port is somebody else's on another interface, it says that it has another") {
  const auto made = at_home();
  const std::uint16_t port = kit::listening_port(*made);
  const auto taken = listen_at(*parse_ip("127.0.0.2"), port, {});
  REQUIRE(taken);
  CHECK(made->expect(encode_contact(told(kNode, network_hash() ^ 1, "127.0.0.1"))));
  CHECK(kit::listening_port(*made) != port);
  CHECK(lets_in(*made, "127.0.0.2"));
}

TEST_CASE("interfaces that were chosen are listened on from the start") {
  Settings settings;
  settings.tcp_if = {"127.0.0.0/8"};
  const auto made = make_at_home(settings);
  REQUIRE(made);
  CHECK(decode_address((*made)->address())->sockets.size() ==
        choose_addresses(local_addresses(), settings.tcp_if)->size());
  CHECK_FALSE((*made)->expect(encode_contact(told(kNode, network_hash() ^ 1, "127.0.0.1"))));
}

TEST_CASE("processes of one node connect by their contacts, which name other interfaces first") {
  conformance::Subject subject;
  subject.name = "tcp";
  subject.make = [](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    static const Settings kSettings;
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = kNode;
    facts.one_node = true;
    facts.settings = &kSettings;
    return TcpTransport::make(facts);
  };
  conformance::Rig rig(subject);
  for (const bool whole : {false, true}) {
    core::Transport& b = *rig.b().transport;
    auto dialled = rig.a().transport->connect(whole ? b.address() : b.contact());
    REQUIRE(dialled);
    conformance::End to, from;
    to.take(std::move(*dialled));
    REQUIRE(kit::until(
        rig, [&] { kit::take_accepted(rig.b(), from); }, [&] { return from.open(); }));
    CHECK(conformance::transfer(rig, to, from, {{1, 24, 500}}));
    CHECK_FALSE(lets_in(b, "127.0.0.2"));
  }
}

}  // namespace
}  // namespace livebtl::tcp
