// SPDX-License-Identifier: BSD-3-Clause
// Put, get and atomics between engines over real transports: against a model in plain memory while
// transports are switched and broken, and flushes. For each transport: regions_conformance_test.cc.
#include <array>
#include <atomic>
#include <deque>
#include <set>

#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/regions.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("puts, gets and additions are what a model says, while transports are switched") {
  const std::vector<std::string> names{"sm", "tcp", "ofi:tcp;ofi_rxm"};
  Rig rig(2, {kind("self"), kind("sm"), kind("tcp"), transports::named(names[2]).value()});
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

namespace {

struct Addition {
  Watched operation;
  std::uint64_t found = 0;
};

/// Rank 0 adds one to the first word of a region.
void begin(Rig& rig, std::uint64_t key, Addition& addition) {
  const std::uint64_t one = 1;
  AtomicRequest request{.to = rig.to(0, 1), .remote = {key, 0}};
  request.operand = &one;
  request.fetched = &addition.found;
  REQUIRE(rig.ports[0]->atomic(request, addition.operation) == Accept::kAccepted);
}

}  // namespace

TEST_CASE("additions whose answers are lost with a connection are done once") {
  std::array<Addition, 16> additions;
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)});
  const Guarded memory(rig, 8);
  const std::atomic_ref<std::uint64_t> counter(*reinterpret_cast<std::uint64_t*>(memory.data()));
  std::vector<std::byte> little(8);
  REQUIRE(Origin(rig).get({memory.key, 0}, little) == Errc::kOk);
  rig.until([&] {  // another path opens at once
    return std::ranges::all_of(
        rig.engines, [](const auto& each) { return each->status().peers.at(0).bulk.size() == 2; });
  });
  Tap& tap = (used(rig, 0, 1) == "alpha" ? alpha : beta)[0];
  tap.deaf = true;
  for (Addition& each : additions) begin(rig, memory.key, each);
  rig.until([&] { return counter == additions.size(); });
  const auto sinks = tap.sinks;
  for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
  tap.deaf = false;
  rig.until([&] {
    return std::ranges::all_of(additions,
                               [](const Addition& each) { return each.operation.done_count == 1; });
  });
  CHECK(counter == additions.size());
  std::set<std::uint64_t> found;
  for (const Addition& each : additions) found.insert(each.found);
  CHECK(found.size() == additions.size());
  CHECK(rig.engines[1]->status().duplicate_frames >= additions.size());
}

TEST_CASE("what is asked of a port that is gone ends alike, whatever it is") {
  Rig rig(2, {kind("self"), kind("tcp")});
  Guarded memory(rig, 400'000);
  Origin origin(rig);
  const std::unique_ptr<Port> other = std::move(rig.engines[1]->open_port({}).value());
  const Remote there{memory.key, 0};
  std::uint64_t found = 0;
  REQUIRE(origin.add(there, 1, found) == Errc::kOk);
  rig.ports[1].reset();  // the region stays, since another port of its space is open
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{8192}, std::size_t{300'000}}) {
    CAPTURE(bytes);
    origin.expect_refused(there, bytes);
  }
  CHECK(origin.add(there, 1, found) == Errc::kBadKey);
  std::vector<std::byte> untouched(memory.size());
  untouched[0] = std::byte{1};
  CHECK(std::memcmp(memory.data(), untouched.data(), untouched.size()) == 0);
  REQUIRE(other->deregister_region(memory.key));
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

TEST_CASE("flushes count among the operations of a port that may be open at once") {
  Settings settings;
  settings.operations_max = 16;
  std::deque<Watched> flushes;  // before the rig, which may still complete them
  Watched put, more;
  Rig rig(2, {kind("self"), kind("tcp")}, 1, settings);
  const Guarded memory(rig, 64);
  const std::uint64_t word = 7;
  const Slice slice{&word, sizeof word};
  Port& port = *rig.ports[0];
  REQUIRE(port.put({.to = rig.to(0, 1), .remote = {memory.key, 0}, .slices = {&slice, 1}}, put) ==
          Accept::kAccepted);
  for (std::uint32_t open = 1; open < settings.operations_max; ++open)
    REQUIRE(port.flush(rig.to(0, 1), flushes.emplace_back()) == Accept::kAccepted);
  CHECK(port.flush({}, more) == Accept::kBusy);
  CHECK(more.done_count == 0);
  rig.until([&] {
    return std::ranges::all_of(flushes, [](const Watched& each) { return each.done_count == 1; });
  });
  CHECK(put.done_count == 1);
  for (std::uint32_t i = 0; i < 2 * settings.operations_max; ++i) {
    Watched again;
    CHECK(port.flush({}, again) == Accept::kAccepted);
    CHECK(again.done_count == 1);
  }
}
