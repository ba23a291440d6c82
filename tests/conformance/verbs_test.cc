// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/verbs_test.cc -- the suite on transports/verbs over a fabric in memory: its
// devices deliver at once or late, take nothing inline, or are InfiniBand; and no queue is ever
// overrun, no object left over.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/conformance/faulty_transport.h"
#include "tests/fake_verbs/world.h"

namespace livebtl::conformance {
namespace {

using fake_verbs::Adapter;
using fake_verbs::World;

TEST_CASE("verbs conforms where a send is there at once") {
  World world;
  run_conformance(world.subject());
}

TEST_CASE("verbs conforms where sends take their time") {
  World world(true);
  run_conformance(world.subject());
}

TEST_CASE("verbs conforms with a checksum on every payload") {
  World world;
  world.settings.crc = CrcMode::kAlways;
  run_conformance(world.subject());
}

TEST_CASE("verbs conforms between two nodes, on a device that takes nothing inline") {
  World world(true);
  for (Adapter* adapter : world.adapters) adapter->max_inline = 0;
  run_conformance(world.subject(false));
}

TEST_CASE("verbs conforms on InfiniBand, where frames need a global route and where not") {
  for (const bool grh_required : {false, true}) {
    World world;
    for (Adapter* adapter : world.adapters) {
      adapter->link_layer = IBV_LINK_LAYER_INFINIBAND;
      adapter->lid = static_cast<std::uint16_t>(adapter == world.adapters[0] ? 4 : 9);
      adapter->gids[0].gid = fake_verbs::gid("fe80::2:" + std::to_string(adapter->lid));
      adapter->gids[0].type = IBV_GID_TYPE_IB;
      adapter->grh_required = grh_required;
    }
    run_conformance(world.subject());
  }
}

TEST_CASE("verbs conforms as one of several, on a device that is not the first") {
  World world(true);
  world.add_device("fake1");
  Subject subject = world.subject(false);
  subject.name = "verbs:fake1";
  subject.make = [&world](std::uint64_t process) {
    return world.make(process, process, {"verbs:fake1", {"fake1"}, std::uint8_t{1}});
  };
  run_conformance(subject);
}

TEST_CASE("verbs conforms under retries and delays") {
  World world(true);
  Subject subject = world.subject();
  subject.make =
      [beneath = subject.make](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    auto transport = beneath(process);
    if (!transport) return tl::unexpected(transport.error());
    const Faults faults{.seed = 1000 + process,
                        .retry = 0.2,
                        .retries_max = 5,
                        .delay = 0.1,
                        .delay_turns_max = 8,
                        .sever = 0};
    return std::make_unique<FaultyTransport>(std::move(*transport), faults);
  };
  run_conformance(subject);
}

}  // namespace
}  // namespace livebtl::conformance
