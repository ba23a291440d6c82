// SPDX-License-Identifier: BSD-3-Clause
// Two ends of a handshake and a complete run of it, for the handshake's tests.
#pragma once

#include "core/path/handshake.h"
#include "core/path/hello_wire.h"

namespace livebtl::core::test {

inline Secret secret_of(int fill) {
  std::array<std::byte, 32> key;
  key.fill(static_cast<std::byte>(fill));
  return Secret(key);
}

inline HelloFacts facts_of(std::uint64_t process) {
  HelloFacts facts;
  facts.job = "job-1";
  facts.process = ProcessId{process};
  facts.incarnation = Incarnation{2};
  facts.node = 77;
  facts.label = "rank 3 on n\u00f6de17";
  facts.epoch = 5;
  facts.rung = 1;
  facts.path = 99;
  facts.replaces = 98;
  facts.next_expected = 1000 + process;
  facts.acknowledged = 900 + process;
  facts.credit_bytes = 1 << 20;
  facts.credit_headers = 4096;
  facts.addresses = {{"tcp", Blob(40, std::byte{7})}, {"sm", Blob(8, std::byte{9})}};
  return facts;
}

inline HelloFacts largest_facts(std::uint64_t process) {
  HelloFacts facts = facts_of(process);
  facts.job = std::string(128, 'j');
  facts.label = std::string(96, 'l');
  facts.addresses.assign(3, {std::string(16, 't'), Blob(512, std::byte{1})});
  facts.addresses.push_back({"t", Blob(kHelloAddressBytesMax - 1 - 3 * (4 + 16 + 512) - 5)});
  return facts;
}

inline Handshake acceptor_of(std::uint64_t process, const Secret& secret,
                             const std::string& job = "job-1") {
  return Handshake::accept(secret, {job, ProcessId{process}});
}

struct Ends {
  Handshake dialler = Handshake::dial(secret_of(1), facts_of(10), ProcessId{20});
  Handshake acceptor = acceptor_of(20, secret_of(1));
};

// Runs a whole handshake; `touch` may alter message number 0..3 on its way. The result of each
// side:
struct Outcome {
  Handshake::Step dialler;
  Handshake::Step acceptor;
};
template <class Touch>
Outcome run(Ends& ends, Touch&& touch, const HelloFacts& answer = facts_of(20)) {
  Outcome out;
  Blob hello = *ends.dialler.start().send;
  touch(0, hello);
  out.acceptor = ends.acceptor.receive(hello);
  if (out.acceptor.ask) out.acceptor = ends.acceptor.answer(answer);
  for (int number = 1; number < 4; ++number) {
    Handshake::Step& sender = number % 2 == 1 ? out.acceptor : out.dialler;
    if (!sender.send) break;
    Blob message = *sender.send;
    sender.send.reset();
    touch(number, message);
    (number % 2 == 1 ? out.dialler : out.acceptor) =
        (number % 2 == 1 ? ends.dialler : ends.acceptor).receive(message);
  }
  return out;
}
inline Outcome run(Ends& ends) {
  return run(ends, [](int, Blob&) {});
}

inline bool same(const HelloFacts& one, const HelloFacts& other) {
  return encode(HelloMessage{{}, {}, one}, false) == encode(HelloMessage{{}, {}, other}, false);
}

}  // namespace livebtl::core::test
