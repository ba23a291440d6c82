// SPDX-License-Identifier: BSD-3-Clause
// Put, get and atomics between engines over real transports: what is refused, what a model in plain
// memory says while transports are switched and broken, and memory that its owner has taken back.
#include "tests/unit/engine/ladder.h"
#include "tests/unit/engine/regions.h"
#include "tests/unit/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

using Kinds = std::vector<core::TransportKind>;

/// An eager one, the largest in one frame, and a large one.
constexpr std::size_t kSizes[] = {8, 8192, 300'000};

const std::string kOverLibfabric = "ofi:tcp;ofi_rxm";

core::TransportKind over_libfabric() { return transports::named(kOverLibfabric).value(); }

/// Transports to try one by one; tcp beside one that connects by tickets.
std::vector<Kinds> each_transport() {
  return {{kind("self"), kind("sm")},
          {kind("self"), kind("tcp")},
          {kind("self"), kind("tcp"), over_libfabric()}};
}

/// Rank 0's accesses to rank 1.
struct Origin {
  explicit Origin(Rig& its_rig) : rig(its_rig), to(its_rig.to(0, 1)) {}

  template <class Start>
  Errc finish(Start start) {
    Watched operation;
    Accept answer = Accept::kBusy;
    rig.until([&] { return (answer = start(operation)) != Accept::kBusy; });
    REQUIRE(answer == Accept::kAccepted);
    rig.until([&] { return operation.done_count != 0; });
    CHECK(operation.done_count == 1);
    return operation.completion.code;
  }
  Errc put(Remote remote, const std::vector<std::byte>& bytes) {
    const Slice slice{bytes.data(), bytes.size()};
    return finish([&](Operation& operation) {
      return rig.ports[0]->put({.to = to, .remote = remote, .slices = {&slice, 1}}, operation);
    });
  }
  Errc get(Remote remote, std::vector<std::byte>& into) {
    const MutableSlice slice{into.data(), into.size()};
    return finish([&](Operation& operation) {
      return rig.ports[0]->get({.to = to, .remote = remote, .slices = {&slice, 1}}, operation);
    });
  }
  Errc add(Remote remote, std::uint64_t operand, std::uint64_t& fetched) {
    AtomicRequest request{.to = to, .remote = remote};
    request.operand = &operand;
    request.fetched = &fetched;
    return finish([&](Operation& operation) { return rig.ports[0]->atomic(request, operation); });
  }
  void expect_refused(Remote remote, std::size_t bytes) {
    CHECK(put(remote, pattern(bytes, 9)) == Errc::kBadKey);
    const auto untouched = pattern(bytes, 7);
    auto into = untouched;
    CHECK(get(remote, into) == Errc::kBadKey);
    CHECK(into == untouched);
  }

  Rig& rig;
  Destination to;
};

/// Three puts, or one get, since those write into one buffer.
void start_some(Rig& rig, Remote remote, std::vector<std::byte>& bytes, bool putting,
                std::deque<Watched>& operations) {
  const Slice from{bytes.data(), bytes.size()};
  const MutableSlice into{bytes.data(), bytes.size()};
  const PutRequest put{.to = rig.to(0, 1), .remote = remote, .slices = {&from, 1}};
  const GetRequest get{.to = rig.to(0, 1), .remote = remote, .slices = {&into, 1}};
  while (operations.size() < (putting ? 3 : 1)) {
    Watched& next = operations.emplace_back();
    REQUIRE((putting ? rig.ports[0]->put(put, next) : rig.ports[0]->get(get, next)) ==
            Accept::kAccepted);
  }
}

void take_memory_back_in_the_middle(const Kinds& kinds, bool putting, int turns) {
  constexpr std::size_t kBytes = 1'500'000;
  Rig rig(2, kinds);
  auto bytes = pattern(kBytes, 5);
  std::deque<Watched> operations;
  Guarded memory(rig, kBytes);
  std::vector<std::byte> little(8);  // the pair meets, and its paths are there
  REQUIRE(Origin(rig).get({memory.key, 0}, little) == Errc::kOk);
  start_some(rig, {memory.key, 0}, bytes, putting, operations);
  for (int i = 0; i < turns; ++i) {
    for (auto& engine : rig.engines) engine->progress();
  }
  memory.take_back();
  rig.until([&] {
    return std::ranges::all_of(operations, [](auto& each) { return each.done_count == 1; });
  });
  for (const Watched& each : operations) {
    const Errc code = each.completion.code;
    CHECK_MESSAGE((code == Errc::kOk || code == Errc::kBadKey || code == Errc::kCancelled),
                  errc_name(code));
  }
}

}  // namespace

TEST_CASE("what is not allowed is refused at the origin, and nothing is touched at the target") {
  for (const Kinds& kinds : each_transport()) {
    Rig rig(2, kinds);
    Origin origin(rig);
    Guarded memory(rig, 400'000), read_only(rig, 400'000, Access::kRead),
        write_only(rig, 400'000, Access::kWrite);
    const auto before = pattern(memory.size(), 1);
    for (const Guarded* each : {&memory, &read_only, &write_only})
      std::memcpy(each->data(), before.data(), before.size());
    for (const std::size_t bytes : kSizes) {
      CAPTURE(bytes);
      origin.expect_refused({memory.key ^ (std::uint64_t{1} << 32), 0}, bytes);
      origin.expect_refused({memory.key + 1000, 0}, bytes);
      origin.expect_refused({memory.key, memory.size() - bytes + 1}, bytes);
      origin.expect_refused({memory.key, ~std::uint64_t{0} - 3}, bytes);
      CHECK(origin.put({read_only.key, 0}, pattern(bytes, 2)) == Errc::kBadKey);
      std::vector<std::byte> into(bytes);
      CHECK(origin.get({write_only.key, 0}, into) == Errc::kBadKey);
      CHECK(origin.get({read_only.key, 0}, into) == Errc::kOk);
      CHECK(std::memcmp(into.data(), before.data(), bytes) == 0);
    }
    for (const Guarded* each : {&memory, &read_only, &write_only})
      CHECK(std::memcmp(each->data(), before.data(), before.size()) == 0);
    const std::uint64_t gone = memory.key;
    memory.take_back();
    for (const std::size_t bytes : kSizes) origin.expect_refused({gone, 0}, bytes);
  }
}

TEST_CASE("atomics that are not allowed, or not whole words, are refused") {
  for (const Kinds& kinds : each_transport()) {
    Rig rig(2, kinds);
    Origin origin(rig);
    Guarded memory(rig, 4096), read_only(rig, 4096, Access::kRead);
    std::uint64_t fetched = 77;
    CHECK(origin.add({read_only.key, 0}, 1, fetched) == Errc::kBadKey);
    CHECK(origin.add({memory.key, memory.size() - 7}, 1, fetched) == Errc::kBadKey);
    CHECK(origin.add({memory.key, ~std::uint64_t{0} - 7}, 1, fetched) == Errc::kBadKey);
    CHECK(origin.add({memory.key, 4}, 1, fetched) == Errc::kInvalid);  // across two words
    CHECK(fetched == 77);
    const std::vector<std::byte> nothing(4096);
    CHECK(std::memcmp(memory.data(), nothing.data(), nothing.size()) == 0);
    const std::uint64_t gone = memory.key;
    memory.take_back();
    CHECK(origin.add({gone, 0}, 1, fetched) == Errc::kBadKey);
  }
}

TEST_CASE("puts, gets and additions are what a model says, while transports are switched") {
  const std::vector<std::string> names{"sm", "tcp", kOverLibfabric};
  Rig rig(2, {kind("self"), kind("sm"), kind("tcp"), over_libfabric()});
  Guarded memory(rig, Storm::kSlots * Storm::kSlotBytes);
  Storm storm(rig, memory, 11);
  Ladder ladder{rig, [&] { storm.step(); }};
  storm.run(50);
  for (std::size_t round = 0; round < 3 * names.size(); ++round) {
    const std::string& from = names[round % names.size()];
    const std::string& to = names[(round + 1) % names.size()];
    core::Routing after = ladder.in_force;
    after.moved.erase(to);
    after.moved[from] = to;
    ladder.go(after);
    storm.run(40);
    CHECK(used(rig, 0, 1) == to);
  }
  storm.finish();
}

TEST_CASE("... and while connections break in the middle of them") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)});
  Guarded memory(rig, Storm::kSlots * Storm::kSlotBytes);
  Storm storm(rig, memory, 12);
  storm.run(20);
  for (std::uint64_t round = 0; round < 20; ++round) {
    storm.run(5 + round % 7);
    Taps& breaking = round % 2 == 0 ? alpha : beta;
    const auto sinks = breaking[round / 2 % 2].sinks;
    for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
  }
  storm.finish();
  CHECK(lost(rig, "alpha") + lost(rig, "beta") >= 10);
}

TEST_CASE("memory that was taken back is not touched by what was under way to or from it") {
  for (const Kinds& kinds : each_transport()) {
    for (const bool putting : {true, false}) {
      for (const int turns : {0, 1, 2, 3, 4, 6, 9, 14, 25})
        take_memory_back_in_the_middle(kinds, putting, turns);
    }
  }
}

TEST_CASE("a flush waits for all that was begun before it, to that peer or to all") {
  Rig rig(3, {kind("self"), kind("tcp")});
  std::vector<std::byte> there(300'000), elsewhere(64);
  const auto bytes = pattern(there.size(), 4);
  const std::uint64_t key =
      rig.ports[1]->register_region({.base = there.data(), .bytes = there.size()}).value();
  const std::uint64_t other =
      rig.ports[2]->register_region({.base = elsewhere.data(), .bytes = elsewhere.size()}).value();
  Watched put_there, put_elsewhere, one, all;
  const Slice slice{bytes.data(), bytes.size()}, small{bytes.data(), 64};
  const Destination to = rig.to(0, 1), to_other = rig.to(0, 2);
  Port& port = *rig.ports[0];
  REQUIRE(port.put({.to = to, .remote = {key, 0}, .slices = {&slice, 1}}, put_there) ==
          Accept::kAccepted);
  REQUIRE(port.put({.to = to_other, .remote = {other, 0}, .slices = {&small, 1}}, put_elsewhere) ==
          Accept::kAccepted);
  REQUIRE(port.flush(to_other, one) == Accept::kAccepted);
  REQUIRE(port.flush({}, all) == Accept::kAccepted);
  rig.until([&] {
    CHECK((one.done_count == 0 || put_elsewhere.done_count == 1));
    CHECK((all.done_count == 0 || (put_there.done_count == 1 && put_elsewhere.done_count == 1)));
    return one.done_count == 1 && all.done_count == 1;
  });
  CHECK(there == bytes);
  Watched nothing;
  REQUIRE(port.flush({}, nothing) == Accept::kAccepted);
  CHECK(nothing.done_count == 1);
}
