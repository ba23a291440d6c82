// SPDX-License-Identifier: BSD-3-Clause
// The handshake: which processes are admitted, which are not, and what each side learns.
#include "core/path/handshake.h"

#include <doctest/doctest.h>

#include "handshake_ends.h"
#include "transports/interface/transport.h"

using namespace livebtl;
using namespace livebtl::core;
using namespace livebtl::core::test;

TEST_CASE("two members of a job open the path and know each other's facts") {
  Ends ends;
  const Outcome out = run(ends);
  CHECK(out.dialler.open);
  CHECK(out.acceptor.open);
  CHECK(ends.dialler.open());
  CHECK(ends.acceptor.open());
  CHECK(same(ends.acceptor.peer(), facts_of(10)));
  CHECK(same(ends.dialler.peer(), facts_of(20)));
}

TEST_CASE("the acceptor's facts carry the dialler's path") {
  Ends ends;
  HelloFacts answer = facts_of(20);
  answer.path = 12345;
  run(
      ends, [](int, Blob&) {}, answer);
  CHECK(ends.dialler.peer().path == 99);
}

TEST_CASE("any process that answers is accepted if none in particular was dialled") {
  Ends ends{.dialler = Handshake::dial(secret_of(1), facts_of(10), ProcessId{0})};
  CHECK(run(ends).dialler.open);
}

TEST_CASE("without a secret on both sides the path opens") {
  Ends ends{Handshake::dial(Secret(), facts_of(10), ProcessId{20}), acceptor_of(20, Secret())};
  const Outcome out = run(ends);
  CHECK(out.dialler.open);
  CHECK(out.acceptor.open);
}

TEST_CASE("the largest facts fit into an untrusted frame") {
  const HelloFacts largest = largest_facts(10);
  REQUIRE(check_facts(largest));
  Ends ends{Handshake::dial(secret_of(1), largest, ProcessId{20}),
            acceptor_of(20, secret_of(1), largest.job)};
  std::size_t longest = 0;
  const Outcome out = run(
      ends, [&](int, Blob& message) { longest = std::max(longest, message.size()); },
      largest_facts(20));
  CHECK(out.dialler.open);
  CHECK(out.acceptor.open);
  CHECK(longest <= kUntrustedPayloadMax);
  CHECK(longest > kUntrustedPayloadMax - 100);
}

TEST_CASE("facts beyond the limits are refused before they are sent") {
  const auto broken = [](auto&& change) {
    HelloFacts facts = facts_of(10);
    change(facts);
    return !check_facts(facts);
  };
  CHECK_FALSE(broken([](HelloFacts&) {}));
  CHECK(broken([](HelloFacts& f) { f.job.clear(); }));
  CHECK(broken([](HelloFacts& f) { f.job = std::string(129, 'a'); }));
  CHECK(broken([](HelloFacts& f) { f.job = "a/b"; }));
  CHECK(broken([](HelloFacts& f) { f.label = std::string(97, 'a'); }));
  CHECK(broken([](HelloFacts& f) { f.label = "a\nb"; }));
  CHECK(broken([](HelloFacts& f) {
    f.label =
        "a\xc2\x9b"
        "b";
  }));
  CHECK(broken([](HelloFacts& f) { f.process = ProcessId{0}; }));
  CHECK(broken([](HelloFacts& f) { f.rung = 4; }));
  CHECK(broken([](HelloFacts& f) { f.next_expected = 0; }));
  CHECK(broken([](HelloFacts& f) { f.acknowledged = 0; }));
  CHECK(broken([](HelloFacts& f) { f.addresses.assign(9, {"tcp", {}}); }));
  CHECK(broken([](HelloFacts& f) { f.addresses = {{"TCP", {}}}; }));
  CHECK(broken([](HelloFacts& f) { f.addresses = {{"tcp", Blob(513)}}; }));
  CHECK(broken([](HelloFacts& f) { f.addresses.assign(4, {"tcp", Blob(512)}); }));
}

TEST_CASE("another secret does not get in, on either side") {
  Ends ends{.acceptor = acceptor_of(20, secret_of(2))};
  const Outcome out = run(ends);
  CHECK(out.acceptor.refused == RefuseReason::kNotAuthentic);
  CHECK_FALSE(out.acceptor.refused_by_peer);
  CHECK(out.dialler.refused == RefuseReason::kNotAuthentic);
  CHECK(out.dialler.refused_by_peer);
}

TEST_CASE("one side with and one without authentication do not talk") {
  for (const bool dialler_has_it : {true, false}) {
    const Secret with = secret_of(1);
    const Secret without;
    Ends ends{Handshake::dial(dialler_has_it ? with : without, facts_of(10), ProcessId{20}),
              acceptor_of(20, dialler_has_it ? without : with)};
    const Outcome out = run(ends);
    CHECK(out.acceptor.refused == RefuseReason::kNotAuthentic);
    CHECK(out.acceptor.text.find("LIVEBTL_AUTH") != std::string::npos);
    CHECK(out.dialler.refused == RefuseReason::kNotAuthentic);
    CHECK(out.dialler.refused_by_peer);
  }
}

TEST_CASE("an acceptor of another job refuses, and says so whatever its secret is") {
  for (const int fill : {1, 2}) {
    Ends ends{.acceptor = acceptor_of(20, secret_of(fill), "job-2")};
    const Outcome out = run(ends);
    CHECK(out.acceptor.refused == RefuseReason::kWrongJob);
    CHECK_FALSE(out.acceptor.ask);
    CHECK(out.dialler.refused == RefuseReason::kWrongJob);
    CHECK(out.dialler.refused_by_peer);
  }
}

TEST_CASE("an acceptor that is not the process dialled refuses") {
  Ends ends{.acceptor = acceptor_of(21, secret_of(1))};
  const Outcome out = run(ends);
  CHECK(out.acceptor.refused == RefuseReason::kNotMe);
  CHECK_FALSE(out.acceptor.ask);
  CHECK(out.dialler.refused == RefuseReason::kNotMe);
}

TEST_CASE("a dialler notices another process even if that one does not mind") {
  // The acceptor is told that no particular process was dialled.
  Ends ends{Handshake::dial(Secret(), facts_of(10), ProcessId{20}), acceptor_of(21, Secret())};
  const Outcome out = run(
      ends,
      [](int number, Blob& message) {
        if (number == 0) std::fill_n(message.begin() + 20, 8, std::byte{0});
      },
      facts_of(21));
  CHECK(out.dialler.refused == RefuseReason::kNotMe);
  CHECK_FALSE(out.dialler.refused_by_peer);
  CHECK_FALSE(ends.acceptor.open());
}

TEST_CASE("a process does not open a path to its own id") {
  Ends ends{.dialler = Handshake::dial(secret_of(1), facts_of(20), ProcessId{0})};
  CHECK(run(ends).acceptor.refused == RefuseReason::kNotMe);
}

TEST_CASE("a refusal tells the reason and the transports to try") {
  for (const bool with_secret : {true, false}) {
    const Secret secret = with_secret ? secret_of(1) : Secret();
    Ends ends{Handshake::dial(secret, facts_of(10), ProcessId{20}), acceptor_of(20, secret)};
    REQUIRE(ends.acceptor.receive(*ends.dialler.start().send).ask);
    const auto refusal = ends.acceptor.refuse(RefuseReason::kNotNow, {"tcp", "sm"});
    CHECK(refusal.refused == RefuseReason::kNotNow);
    CHECK_FALSE(refusal.refused_by_peer);
    const auto told = ends.dialler.receive(*refusal.send);
    CHECK(told.refused == RefuseReason::kNotNow);
    CHECK(told.refused_by_peer);
    CHECK(told.try_instead == std::vector<std::string>{"tcp", "sm"});
  }
}

TEST_CASE("the acceptor may still refuse at proof time, before its welcome is posted") {
  Ends ends;
  REQUIRE(ends.acceptor.receive(*ends.dialler.start().send).ask);
  const Blob challenge = *ends.acceptor.answer(facts_of(20)).send;
  const Blob proof = *ends.dialler.receive(challenge).send;
  REQUIRE(ends.acceptor.receive(proof).open);
  const auto refusal = ends.acceptor.refuse(RefuseReason::kDuplicate, {});
  CHECK_FALSE(ends.acceptor.open());
  CHECK(ends.dialler.receive(*refusal.send).refused == RefuseReason::kDuplicate);
  CHECK_FALSE(ends.dialler.open());
}

TEST_CASE("address lists: what was encoded is decoded, anything else is refused") {
  const std::vector<TransportAddress> list = facts_of(1).addresses;
  const Blob blob = encode_addresses(list);
  const auto decoded = decode_addresses(blob);
  REQUIRE(decoded);
  CHECK(encode_addresses(*decoded) == blob);
  for (std::size_t length = 0; length < blob.size(); ++length)
    REQUIRE_FALSE(decode_addresses(Bytes(blob).first(length)));
  Blob longer = blob;
  longer.push_back(std::byte{0});
  CHECK_FALSE(decode_addresses(longer));
  CHECK(decode_addresses(encode_addresses({})));
  CHECK_FALSE(decode_addresses(encode_addresses(std::vector<TransportAddress>(9, {"tcp", {}}))));
  CHECK_FALSE(decode_addresses(encode_addresses({{"", {}}})));
  CHECK_FALSE(decode_addresses(encode_addresses({{"tcp", Blob(513)}})));
}
