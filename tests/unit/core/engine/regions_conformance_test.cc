// SPDX-License-Identifier: BSD-3-Clause
// What put, get and atomics of the BML promise, on each transport, and on some that behave as badly
// as they may: refusals that touch nothing, a model in plain memory, memory that is taken back.
#include "tests/unit/core/engine/regions_conformance.h"

#include <cstdlib>

#include "tests/conformance/faulty_transport.h"
#include "tests/conformance/leaks.h"
#include "tests/conformance/ofi_names.h"
#include "tests/fake_verbs/world.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// An eager one, the largest in one frame, and a large one.
constexpr std::size_t kSizes[] = {8, 8192, 300'000};

void refused_with_nothing_touched(const OnTransport& on) {
  Rig rig(on.ranks, on.kinds);
  Origin origin(rig);
  Guarded memory(rig, 400'000), read_only(rig, 400'000, Access::kRead),
      write_only(rig, 400'000, Access::kWrite), nobodys(rig, 400'000, Access::kNone);
  meet(rig, on, memory.key);
  const auto before = pattern(memory.size(), 1);
  for (const Guarded* each : {&memory, &read_only, &write_only})
    std::memcpy(each->data(), before.data(), before.size());
  for (const std::size_t bytes : kSizes) {
    CAPTURE(bytes);
    origin.expect_refused({memory.key ^ (std::uint64_t{1} << 32), 0}, bytes);
    origin.expect_refused({memory.key + 1000, 0}, bytes);
    origin.expect_refused({memory.key, memory.size() - bytes + 1}, bytes);
    origin.expect_refused({memory.key, ~std::uint64_t{0} - 3}, bytes);
    origin.expect_refused({nobodys.key, 0}, bytes);
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

void is_what_a_model_says(const OnTransport& on) {
  Rig rig(on.ranks, on.kinds);
  Guarded memory(rig, Storm::kSlots * Storm::kSlotBytes);
  meet(rig, on, memory.key);
  Storm storm(rig, memory, 13);
  storm.run(on.storm);
  storm.finish();
}

void run(const OnTransport& on) {
  CAPTURE(on.name);
  refused_with_nothing_touched(on);
  atomics_are_refused(on);
  atomics_are_as_at_home(on);
  nonsense_is_refused_at_once(on);
  is_what_a_model_says(on);
  memory_is_taken_back(on);
  if (on.own_threads) memory_is_freed(on);
}

/// libfabric's ofi_rxm is refused without this variable; it is set while the object lives.
struct SharedReceives {
  SharedReceives() { ::setenv(kName, "1", 1); }
  ~SharedReceives() { ::unsetenv(kName); }
  SharedReceives(const SharedReceives&) = delete;
  SharedReceives& operator=(const SharedReceives&) = delete;
  static constexpr const char* kName = "FI_OFI_RXM_USE_SRX";
};

/// With tcp to connect by.
OnTransport over_libfabric(const std::string& provider) {
  const std::string name = "ofi:" + provider;
  return {name, {kind("self"), kind("tcp"), transports::named(name).value()}};
}

/// Adds up its faults.
class Counted final : public conformance::FaultyTransport {
 public:
  Counted(std::unique_ptr<core::Transport> beneath, const conformance::Faults& faults,
          conformance::FaultCounts& total)
      : FaultyTransport(std::move(beneath), faults), total_(total) {}
  ~Counted() override {
    total_.retries += counts().retries;
    total_.delays += counts().delays;
    total_.severed += counts().severed;
  }

 private:
  conformance::FaultCounts& total_;
};

conformance::FaultCounts run_on_faulty(OnTransport on, double sever) {
  conformance::FaultCounts total;
  const auto faulty = std::ranges::find(on.kinds, on.name, &core::TransportKind::name);
  REQUIRE(faulty != on.kinds.end());
  faulty->make = [&total, sever, make = faulty->make](
                     const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto made = make(facts);
    if (!made) return tl::unexpected(made.error());
    const conformance::Faults faults{.seed = static_cast<std::uint64_t>(facts.process),
                                     .retry = 0.1,
                                     .retries_max = 4,
                                     .delay = 0.1,
                                     .delay_turns_max = 6,
                                     .sever = sever};
    return std::make_unique<Counted>(std::move(*made), faults, total);
  };
  run(on);
  return total;
}

}  // namespace

TEST_CASE("regions of one's own") {
  OnTransport on{"self", {kind("self")}, 1};
  on.own_threads = false;  // each access is done at once: nothing would be refused
  run(on);
}
TEST_CASE("regions over sm") { run({"sm", {kind("self"), kind("sm")}}); }
TEST_CASE("regions over tcp") { run({"tcp", {kind("self"), kind("tcp")}}); }
TEST_CASE("regions over libfabric's tcp;ofi_rxm") { run(over_libfabric("tcp;ofi_rxm")); }
// Not over its shm, which accesses the memory of a closed endpoint in the same process (1.17); for
// that there are e2e's promises-over-shm and several-ofi-regions-3.
TEST_CASE("regions over libfabric's sockets") { run(over_libfabric("sockets")); }
TEST_CASE("regions over libfabric's udp;ofi_rxd") { run(over_libfabric("udp;ofi_rxd")); }
TEST_CASE("regions over libfabric's net") {
  LIVEBTL_LEAKS_OF_A_LIBRARY;
  run(over_libfabric(conformance::kNet));
}
TEST_CASE("regions over libfabric's net;ofi_rxm") {
  LIVEBTL_LEAKS_OF_A_LIBRARY;
  const SharedReceives shared;
  run(over_libfabric(conformance::kNetBelowRxm));
}

TEST_CASE("regions over verbs") {
  for (const bool lag : {false, true}) {
    fake_verbs::World world(lag);
    core::TransportKind verbs = kind("verbs");
    verbs.make = [&](const core::NodeFacts& facts) {
      return world.make(static_cast<std::uint64_t>(facts.process) - Rig::kFirstProcess + 1,
                        facts.node);
    };
    OnTransport on{"verbs", {kind("self"), kind("tcp"), verbs}};
    on.own_threads = false;  // both share one world
    run(on);
  }
}

TEST_CASE("regions over transports that are busy and late, and break") {
  for (const OnTransport& on :
       {OnTransport{"sm", {kind("self"), kind("sm")}},
        OnTransport{"tcp", {kind("self"), kind("tcp")}}, over_libfabric("tcp;ofi_rxm")}) {
    for (const double sever : {0.0, 0.005}) {
      CAPTURE(on.name);
      CAPTURE(sever);
      const conformance::FaultCounts faults = run_on_faulty(on, sever);
      CHECK(faults.retries > 0);
      CHECK(faults.delays > 0);
      CHECK((faults.severed > 0) == (sever > 0));
    }
  }
}
