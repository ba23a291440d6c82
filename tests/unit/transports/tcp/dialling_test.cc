// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/dialling_test.cc -- a peer with several addresses, some of them wrong,
// silent or someone else's; settings; and what a process tells of itself.
#include <doctest/doctest.h>

#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"
#include "transports/tcp/tcp_dialler.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Rig;
using core::Post;

/// Dials from A; advances A's clock by a second per turn, so that what can time out does.
struct Dial {
  Dial(Rig& on, const Blob& address) : rig(on) {
    auto dialled = rig.a().transport->connect(address);
    REQUIRE(dialled.has_value());
    a.take(std::move(*dialled));
  }
  template <class Condition>
  bool until(Condition condition) {
    return rig.until([&] {
      kit::take_accepted(rig.b(), b);
      if (impatient) later += kSecond;
      rig.a().transport->progress(rig.a(), monotonic_now() + later, 64);
      if (!sent) sent = a.post_pattern(1, 8, 8) != Post::kRetry;
      return condition();
    });
  }
  Rig& rig;
  End a;
  End b;
  bool sent = false;
  bool impatient = false;
  TimeNs later = 0;
};

std::unique_ptr<TcpTransport> opened_again(const Settings& settings, const Blob& address) {
  core::NodeFacts facts;
  facts.process = ProcessId{1};
  facts.node = 1;
  facts.settings = &settings;
  facts.previous_address = address;
  auto made = TcpTransport::make(facts);
  REQUIRE(made);
  return std::move(*made);
}

TEST_CASE("a transport that is opened again listens where it did, if it can") {
  for (const char* const where : {"", "127.0.0.1"}) {
    Settings settings;
    if (*where != 0) settings.tcp_if = {where};
    Blob address;
    {
      const auto subject = kit::two_nodes();
      Rig rig(subject);
      auto first = opened_again(settings, {});
      address = first->address();
      // A connection that this end closes first lingers on the port.
      Dial dial(rig, address);
      REQUIRE(rig.until([&] {
        first->progress(rig.b(), monotonic_now(), 64);
        kit::take_accepted(rig.b(), dial.b);
        return dial.b.open();
      }));
      dial.b.close();
    }
    const auto second = opened_again(settings, address);
    CHECK(kit::listening_port(*second) == decode_address(address)->sockets.front().port);
    const auto third = opened_again(settings, address);  // taken by the second
    CHECK(kit::listening_port(*third) != kit::listening_port(*second));
  }
}

TEST_CASE("a dead address is passed over") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Dial dial(rig, kit::address_of({kit::dead_end(), kit::dead_end(), kit::where(rig.b())}, 2));
  CHECK(dial.until([&] { return dial.b.frames == 1; }));
  CHECK(dial.a.downs.empty());
}

TEST_CASE("an address that accepts and never answers is passed over when its time is over") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  const kit::Listener silent;
  Dial dial(rig, kit::address_of({silent.where(), kit::where(rig.b())}, 2));
  rig.settle();
  CHECK(!dial.sent);
  dial.later = kPreambleLimitNs;
  CHECK(dial.until([&] { return dial.b.frames == 1; }));
}

TEST_CASE("an address where something else answers is passed over") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  const kit::Listener other;
  Dial dial(rig, kit::address_of({other.where(), kit::where(rig.b())}, 2));
  Fd answering;
  CHECK(dial.until([&] {
    if (!answering) {
      answering = other.accept();
      if (answering) ::send(answering.number(), "HTTP/1.1 400 Bad Request\r\n", 26, MSG_NOSIGNAL);
    }
    return dial.b.frames == 1;
  }));
}

TEST_CASE("an address where another node answers is passed over") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  conformance::Side other(*subject.make(3));
  Dial dial(rig, kit::address_of({kit::where(other), kit::where(rig.b())}, 2));
  CHECK(dial.until([&] {
    other.turn();
    return dial.b.frames == 1;
  }));
}

TEST_CASE("if none answers on_down names each address and why") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  const kit::Listener silent;
  const SocketAddress dead = kit::dead_end();
  Dial dial(rig, kit::address_of({dead, silent.where(), kit::where(rig.b())}, 77));
  dial.impatient = true;
  REQUIRE(dial.until([&] { return !dial.a.downs.empty(); }));
  CHECK(dial.a.downs.size() == 1);
  const Error& why = dial.a.downs[0];
  CHECK(why.code == Errc::kUnreachable);
  CHECK(why.text.find(to_text(dead) + ": Connection refused") != std::string::npos);
  CHECK(why.text.find(to_text(silent.where()) + ": connected, but no answer") != std::string::npos);
  CHECK(why.text.find(to_text(kit::where(rig.b())) + ": another node answers there") !=
        std::string::npos);
  CHECK(dial.a.post_pattern(1, 8, 8) == Post::kRetry);
}

TEST_CASE("loopback of another network is not reached") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Reachable elsewhere;
  elsewhere.network = network_hash() ^ 1;
  elsewhere.node = 2;
  elsewhere.sockets = {kit::where(rig.b())};
  for (const Blob& address : {encode_address(elsewhere), encode_contact(elsewhere)}) {
    CHECK(!rig.a().transport->reaches(address));
    const auto dialled = rig.a().transport->connect(address);
    REQUIRE(!dialled.has_value());
    CHECK(dialled.error().code == Errc::kUnreachable);
  }
}

TEST_CASE("on all interfaces every address that is up is told") {
  const Settings settings;
  const auto made = kit::make_transport(settings, 1, 1);
  REQUIRE(made.has_value());
  const auto told = decode_address((*made)->address());
  REQUIRE(told.has_value());
  CHECK(told->sockets.size() == std::min(local_addresses().size(), kSocketsMax));
  const auto contact = decode_address((*made)->contact());
  REQUIRE(contact.has_value());
  CHECK(contact->sockets[0] == told->sockets[0]);
}

TEST_CASE("chosen addresses alone are listened on, and told") {
  Settings settings;
  settings.tcp_if = {"127.0.0.1"};
  const auto made = kit::make_transport(settings, 1, 1);
  REQUIRE(made.has_value());
  const auto told = decode_address((*made)->address());
  REQUIRE(told->sockets.size() == 1);
  CHECK(to_text(told->sockets[0].ip) == "127.0.0.1");
  SocketAddress beside = told->sockets[0];
  beside.ip = *parse_ip("127.0.0.2");
  const auto probe = start_connect(beside, {});
  const bool refused = !probe || connect_error(probe->number()) != 0;
  CHECK(refused);
}

TEST_CASE("settings that cannot be followed are errors that name them") {
  Settings settings;
  settings.tcp_if = {"nosuch0"};
  const auto no_interface = kit::make_transport(settings, 1, 1);
  REQUIRE(!no_interface.has_value());
  CHECK(no_interface.error().text.find("nosuch0") != std::string::npos);
  const kit::Listener taken;
  settings.tcp_if = {"127.0.0.1"};
  settings.tcp_port = taken.where().port;
  const auto no_port = kit::make_transport(settings, 1, 1);
  REQUIRE(!no_port.has_value());
  CHECK(no_port.error().code == Errc::kSystem);
  CHECK(no_port.error().text.find(std::to_string(settings.tcp_port)) != std::string::npos);
}

TEST_CASE("a port that was asked for is the one that is told") {
  Settings settings;
  settings.tcp_if = {"127.0.0.1"};
  settings.tcp_port = kit::dead_end().port;
  const auto made = kit::make_transport(settings, 1, 1);
  REQUIRE(made.has_value());
  CHECK(decode_address((*made)->contact())->sockets[0].port == settings.tcp_port);
}

}  // namespace
}  // namespace livebtl::tcp
