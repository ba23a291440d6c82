// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_network_test.cc -- the simulated network keeps the promises of core's
// transport interface.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "tests/sim/network/sim_transport.h"

using namespace livebtl;
using namespace livebtl::sim;

namespace {

/// Records what an endpoint is told.
struct Sink final : core::EndpointSink {
  MutableBytes on_place(Bytes, std::size_t payload_bytes, bool) noexcept override {
    place.resize(payload_bytes);
    return place;
  }
  void on_frame(Bytes header, Bytes payload) noexcept override {
    std::uint64_t number = 0;
    std::memcpy(&number, header.data(), sizeof number);
    intact = intact && payload.size() == number % 100 &&
             std::ranges::all_of(
                 payload, [&](std::byte byte) { return byte == static_cast<std::byte>(number); });
    numbers.push_back(number);
    told_after_down = told_after_down || down.has_value();
  }
  void on_sent(std::uint64_t) noexcept override {
    told_after_down = told_after_down || down.has_value();
  }
  void on_down(const Error& why) noexcept override {
    told_after_down = told_after_down || down.has_value();
    down = why.code;
  }

  std::vector<std::uint64_t> numbers;
  std::optional<Errc> down;
  bool intact = true;
  bool told_after_down = false;
  Blob place;
};

struct Acceptor final : core::TransportSink {
  void on_accept(std::unique_ptr<core::Endpoint> made) noexcept override {
    endpoint = std::move(made);
    endpoint->attach(sink);
    endpoint->trust();
  }
  std::unique_ptr<core::Endpoint> endpoint;
  Sink sink;
};

/// Two processes of one node with one transport each, and a connection between them.
struct Pair {
  Pair(const std::string& name, std::uint64_t seed, FaultPlan plan) : network(clock, seed, plan) {
    core::NodeFacts facts;
    facts.node = 1;
    for (std::uint64_t process = 1; process <= 2; ++process) {
      facts.process = ProcessId{process};
      for (core::TransportKind& kind : network.kinds()) {
        if (kind.name == name) transports[process - 1] = kind.make(facts).value();
      }
    }
    dialled = transports[0]->connect(transports[1]->address()).value();
    dialled->attach(dialler_sink);
    dialled->trust();
  }
  ~Pair() {
    dialled.reset();
    acceptor.endpoint.reset();
  }
  void step(bool move_acceptor = true) {
    clock.advance_to(clock.now() + 5 * kMicrosecond);
    network.chaos();
    transports[0]->progress(nobody, clock.now(), 16);
    if (move_acceptor) transports[1]->progress(acceptor, clock.now(), 16);
  }
  bool post(std::uint64_t number) {
    payload.assign(number % 100, static_cast<std::byte>(number));
    return dialled->post({bytes_of(number), payload, number, false}) != core::Post::kRetry;
  }
  /// Posts the numbers 1 to `count`, until all are through or the path is down.
  void stream(std::uint64_t count) {
    std::uint64_t next = 1;
    int left = 400'000;  // a deadline for bugs; after a break enough for the other end, if it ever
                         // learns of it
    while (left-- > 0 && !(dialler_sink.down && acceptor.sink.down)) {
      if (dialler_sink.down || acceptor.sink.down) left = std::min(left, 2000);
      while (next <= count && !dialler_sink.down && post(next)) ++next;
      step();
      if (acceptor.sink.numbers.size() == count) return;
    }
  }
  bool in_order() const {
    for (std::size_t i = 0; i < acceptor.sink.numbers.size(); ++i) {
      if (acceptor.sink.numbers[i] != i + 1) return false;
    }
    return acceptor.sink.intact && !acceptor.sink.told_after_down && !dialler_sink.told_after_down;
  }

  SimClock clock;
  SimNetwork network;
  std::unique_ptr<core::Transport> transports[2];
  Acceptor nobody, acceptor;
  Sink dialler_sink;
  std::unique_ptr<core::Endpoint> dialled;
  Blob payload;
};

FaultPlan slow_only() {
  FaultPlan plan;
  plan.retry = 0.2;
  plan.partial = 0.2;
  plan.stall = 0.02;
  return plan;
}

FaultPlan wild() {
  FaultPlan plan = slow_only();
  plan.corrupt = 0.002;
  plan.torn = 0.002;
  plan.sever = 0.002;
  return plan;
}

}  // namespace

TEST_CASE("without losses every frame arrives once and in order, however slow") {
  for (const char* name : {"alpha", "beta", "gamma"}) {
    Pair pair(name, 3, slow_only());
    pair.stream(2000);
    CHECK(pair.acceptor.sink.numbers.size() == 2000);
    CHECK(pair.in_order());
    CHECK(pair.network.counts().of(Fault::kRetry) > 0);
    CHECK(pair.network.counts().of(Fault::kPartial) > 0);
    CHECK(pair.network.counts().of(Fault::kStall) > 0);
  }
}

TEST_CASE("a path that breaks has delivered a prefix, and says so once") {
  FaultCounts counts;
  std::size_t whole = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Pair pair("alpha", seed, wild());
    pair.stream(2000);
    CHECK(pair.in_order());
    whole += pair.acceptor.sink.numbers.size() == 2000 ? 1 : 0;
    counts.add(pair.network.counts());
  }
  CHECK(whole < 100);
  for (const Fault fault : {Fault::kSeverBoth, Fault::kSeverOneSide, Fault::kCorrupt, Fault::kTorn,
                            Fault::kDrop, Fault::kDuplicate}) {
    CAPTURE(fault_name(fault));
    CHECK(counts.of(fault) > 0);
  }
}

TEST_CASE("a transport that cannot lose frames is not severed, and closes behind its last frame") {
  Pair pair("gamma", 5, wild());
  pair.stream(500);
  CHECK(pair.in_order());
  for (std::uint64_t number = 501; number <= 510; ++number) {
    while (!pair.post(number)) pair.step();
  }
  while (pair.dialled->in_flight() != 0) pair.step(false);
  pair.dialled.reset();
  while (!pair.acceptor.sink.down) pair.step();
  CHECK(pair.acceptor.sink.numbers.size() == 510);
  CHECK(pair.in_order());
}

TEST_CASE("one seed gives one run") {
  const auto run = [](std::uint64_t seed) {
    Pair pair("beta", seed, wild());
    pair.stream(1000);
    return pair.network.counts().to_text() + std::to_string(pair.acceptor.sink.numbers.size()) +
           std::to_string(pair.clock.now());
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK(run(seed) == run(seed));
  CHECK(run(1) != run(2));
}

TEST_CASE("dialling where nobody listens ends in a refusal") {
  Pair pair("alpha", 1, FaultPlan::calm());
  pair.transports[1].reset();
  for (int i = 0; i < 100 && !pair.dialler_sink.down; ++i) pair.step(false);
  CHECK(pair.dialler_sink.down == Errc::kRefused);
}

TEST_CASE("a process that is not moved receives nothing and loses nothing") {
  Pair pair("alpha", 1, FaultPlan::calm());
  for (int i = 0; i < 10; ++i) pair.step();
  REQUIRE(pair.acceptor.endpoint);
  std::uint64_t next = 1;
  for (int i = 0; i < 1000; ++i) {
    if (pair.post(next)) ++next;
    pair.step(false);
  }
  CHECK(pair.acceptor.sink.numbers.empty());
  CHECK(next < 100);  // until the buffers are full
  for (int i = 0; i < 1000; ++i) pair.step();
  CHECK(pair.acceptor.sink.numbers.size() == next - 1);
  CHECK(pair.in_order());
}
