// SPDX-License-Identifier: BSD-3-Clause
// The handshake against altered, cut, replayed, reflected and forged messages: none opens a path.
#include "core/path/handshake.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "handshake_ends.h"

using namespace livebtl;
using namespace livebtl::core;
using namespace livebtl::core::test;

TEST_CASE("an unauthenticated HELLO earns a refusal, and learns nothing by it") {
  for (const std::uint64_t dialled : {20u, 21u, 0u}) {
    Handshake forger = Handshake::dial(secret_of(2), facts_of(10), ProcessId{dialled});
    Handshake acceptor = acceptor_of(20, secret_of(1));
    const auto step = acceptor.receive(*forger.start().send);
    CHECK_FALSE(step.ask);
    CHECK(step.refused == RefuseReason::kNotAuthentic);
    REQUIRE(step.send);
    const auto refusal = decode_refuse(Bytes(*step.send).first(step.send->size() - sizeof(Mac)));
    REQUIRE(refusal);
    CHECK(refusal->process == ProcessId{0});
    CHECK(refusal->try_instead.empty());
  }
}

TEST_CASE("a process that replays a HELLO still cannot prove itself") {
  Ends honest;
  REQUIRE(honest.acceptor.receive(*honest.dialler.start().send).ask);
  REQUIRE(honest.acceptor.answer(facts_of(20)).send);
  Blob proof = encode_hello_head(HelloType::kProof, true);
  proof.resize(proof.size() + sizeof(Mac));
  const auto step = honest.acceptor.receive(proof);
  CHECK(step.refused == RefuseReason::kNotAuthentic);
  CHECK_FALSE(honest.acceptor.open());
}

TEST_CASE("an authentic refusal counts only if it is of the process that was dialled") {
  // All know the secret. What was sent to 20 is relayed to 21, whose refusal is relayed back.
  for (const RefuseReason reason :
       {RefuseReason::kDuplicate, RefuseReason::kNotNow, RefuseReason::kInconsistent}) {
    Handshake dialler = Handshake::dial(secret_of(1), facts_of(10), ProcessId{20});
    Blob hello = *dialler.start().send;
    const auto refusal_of = [&](std::uint64_t process) {
      Blob body = encode(RefuseMessage{reason, ProcessId{process}, {}}, true);
      ByteWriter covered;
      covered.put_counted(hello);
      covered.put_counted(body);
      const Mac mac = secret_of(1).mac("livebtl hello refused by acceptor", covered.take());
      body.insert(body.end(), mac.begin(), mac.end());
      return body;
    };
    Handshake other = dialler;
    CHECK(other.receive(refusal_of(21)).refused == RefuseReason::kNotAuthentic);
    other = dialler;
    CHECK(other.receive(refusal_of(0)).refused == RefuseReason::kNotAuthentic);
    CHECK(dialler.receive(refusal_of(20)).refused == reason);
  }
}

TEST_CASE("a replayed HELLO earns a challenge that its sender cannot meet") {
  Ends first;
  Blob hello, proof;
  run(first, [&](int number, Blob& message) {
    if (number == 0) hello = message;
    if (number == 2) proof = message;
  });
  REQUIRE(first.acceptor.open());
  Handshake acceptor = acceptor_of(20, secret_of(1));
  REQUIRE(acceptor.receive(hello).ask);
  REQUIRE(acceptor.answer(facts_of(20)).send);
  const auto step = acceptor.receive(proof);
  CHECK(step.refused == RefuseReason::kNotAuthentic);
  CHECK_FALSE(step.open);
}

TEST_CASE("a replayed CHALLENGE and WELCOME do not satisfy a new dialler") {
  Ends first;
  Blob challenge, welcome;
  run(first, [&](int number, Blob& message) {
    if (number == 1) challenge = message;
    if (number == 3) welcome = message;
  });
  Handshake dialler = Handshake::dial(secret_of(1), facts_of(10), ProcessId{20});
  REQUIRE(dialler.start().send);
  CHECK(dialler.receive(challenge).refused == RefuseReason::kNotAuthentic);

  Ends second;
  const Outcome out = run(second, [&](int number, Blob& message) {
    if (number == 3) message = welcome;
  });
  CHECK(out.dialler.refused == RefuseReason::kNotAuthentic);
}

TEST_CASE("messages reflected to their sender prove nothing") {
  Ends ends;
  const Blob hello = *ends.dialler.start().send;
  SUBCASE("HELLO") { CHECK(ends.dialler.receive(hello).refused == RefuseReason::kMalformed); }
  SUBCASE("CHALLENGE and PROOF") {
    REQUIRE(ends.acceptor.receive(hello).ask);
    const Blob challenge = *ends.acceptor.answer(facts_of(20)).send;
    Handshake other_acceptor = ends.acceptor;
    CHECK(other_acceptor.receive(challenge).refused == RefuseReason::kMalformed);
    const Blob proof = *ends.dialler.receive(challenge).send;
    Handshake other_dialler = ends.dialler;
    CHECK(other_dialler.receive(proof).refused == RefuseReason::kMalformed);
    Blob renamed = proof;  // the proof's MAC sent back as a welcome
    renamed[1] = static_cast<std::byte>(HelloType::kWelcome);
    CHECK(ends.dialler.receive(renamed).refused == RefuseReason::kNotAuthentic);
  }
}

TEST_CASE("any altered byte of any message keeps the path shut") {
  Ends measure;
  std::array<std::size_t, 4> sizes{};
  run(measure,
      [&](int number, Blob& message) { sizes[static_cast<std::size_t>(number)] = message.size(); });
  int ended_well = 0;
  for (int target = 0; target < 4; ++target) {
    for (std::size_t at = 0; at < sizes[static_cast<std::size_t>(target)]; ++at) {
      Ends ends;
      const Outcome out = run(ends, [&](int number, Blob& message) {
        if (number == target) message[at] ^= std::byte{0x01};
      });
      INFO("message " << target << " byte " << at);
      REQUIRE_FALSE(ends.dialler.open());
      // Only the last message comes too late to shut the acceptor's side; its path dies with the
      // dialler's.
      REQUIRE((target == 3 || !ends.acceptor.open()));
      ended_well +=
          out.dialler.refused != RefuseReason::kNone || out.acceptor.refused != RefuseReason::kNone
              ? 1
              : 0;
    }
  }
  CHECK(ended_well == static_cast<int>(sizes[0] + sizes[1] + sizes[2] + sizes[3]));
}

TEST_CASE("any message cut short or made longer keeps the path shut") {
  for (int target = 0; target < 4; ++target) {
    for (std::size_t length = 0; length < 3000; length = length < 400 ? length + 1 : length + 97) {
      Ends ends;
      std::size_t original = 0;
      run(ends, [&](int number, Blob& message) {
        if (number != target) return;
        original = message.size();
        message.resize(length);
      });
      if (length == original) continue;
      INFO("message " << target << " length " << length);
      REQUIRE_FALSE(ends.dialler.open());
      REQUIRE((target == 3 || !ends.acceptor.open()));
    }
  }
}

TEST_CASE("garbage in any state ends in a refusal, with and without authentication") {
  Random random(1);
  for (int round = 0; round < 4000; ++round) {
    const Secret secret = round % 2 == 0 ? secret_of(1) : Secret();
    Ends ends{Handshake::dial(secret, facts_of(10), ProcessId{20}), acceptor_of(20, secret)};
    const int target = static_cast<int>(random.below(4));
    const Outcome out = run(ends, [&](int number, Blob& message) {
      if (number != target) return;
      message.resize(random.below(300));
      for (std::byte& byte : message) byte = static_cast<std::byte>(random.next());
      // Half have a good head, so that the body is reached.
      if (round % 4 < 2 && message.size() >= 4) {
        const auto type = static_cast<HelloType>(1 + random.below(5));
        const Blob head = encode_hello_head(type, secret.present());
        std::copy(head.begin(), head.end(), message.begin());
      }
    });
    REQUIRE_FALSE(ends.dialler.open());
    REQUIRE((out.dialler.refused != RefuseReason::kNone ||
             out.acceptor.refused != RefuseReason::kNone));
  }
}

TEST_CASE("a malformed message is answered once, and nothing after it") {
  Handshake acceptor = acceptor_of(20, secret_of(1));
  const auto first = acceptor.receive(as_bytes("GET / HTTP/1.1"));
  CHECK(first.refused == RefuseReason::kMalformed);
  CHECK(first.send);
  const auto second = acceptor.receive(as_bytes("GET / HTTP/1.1"));
  CHECK(second.refused == RefuseReason::kMalformed);
  CHECK_FALSE(second.send);
}

TEST_CASE("another version of the hello is refused as malformed") {
  Ends ends;
  const Outcome out = run(ends, [](int number, Blob& message) {
    if (number == 0) message[0] = std::byte{1};
  });
  CHECK(out.acceptor.refused == RefuseReason::kMalformed);
  CHECK(out.dialler.refused == RefuseReason::kMalformed);
  CHECK(out.dialler.refused_by_peer);
}

TEST_CASE("a second HELLO is out of turn") {
  Ends ends;
  const Blob hello = *ends.dialler.start().send;
  REQUIRE(ends.acceptor.receive(hello).ask);
  REQUIRE(ends.acceptor.answer(facts_of(20)).send);
  CHECK(ends.acceptor.receive(hello).refused == RefuseReason::kMalformed);
}

TEST_CASE("an unauthenticated refusal cannot claim what only a member may claim") {
  for (const RefuseReason reason :
       {RefuseReason::kDuplicate, RefuseReason::kNotNow, RefuseReason::kInconsistent}) {
    Ends ends;
    REQUIRE(ends.acceptor.receive(*ends.dialler.start().send).ask);
    Blob refusal = *ends.acceptor.refuse(reason, {"tcp"}).send;
    Handshake again = ends.dialler;
    CHECK(ends.dialler.receive(refusal).refused == reason);
    refusal.back() ^= std::byte{1};
    const auto step = again.receive(refusal);
    CHECK(step.refused == RefuseReason::kNotAuthentic);
    CHECK(step.try_instead.empty());
  }
}

TEST_CASE("a refusal of an earlier conversation does not count in this one") {
  Ends first, second;
  REQUIRE(first.acceptor.receive(*first.dialler.start().send).ask);
  const Blob refusal = *first.acceptor.refuse(RefuseReason::kInconsistent, {}).send;
  second.dialler.start();
  CHECK(second.dialler.receive(refusal).refused == RefuseReason::kNotAuthentic);
}

TEST_CASE("nonces make two conversations of the same facts differ") {
  Ends one, other;
  CHECK(*one.dialler.start().send != *other.dialler.start().send);
}
