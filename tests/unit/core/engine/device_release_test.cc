// SPDX-License-Identifier: BSD-3-Clause
// What an engine reports of a device that others still hold open after its own release.
#include <fcntl.h>

#include "base/fd.h"
#include "tests/unit/core/engine/ladder.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Two engines over sm and tcp; a file plays tcp's device.
struct Device {
  Device() {
    char made[] = "/tmp/livebtl-device-XXXXXX";
    const Fd fd(::mkstemp(made));
    REQUIRE(static_cast<bool>(fd));
    path = made;
  }
  ~Device() { std::filesystem::remove(path); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  core::TransportKind tcp() const {
    core::TransportKind of_device = kind("tcp");
    of_device.devices.prefix = path;
    return of_device;
  }
  Fd open() const { return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }
  std::string path;
};

core::Routing without_tcp() {
  core::Routing routing;
  routing.excluded = {"tcp"};
  return routing;
}

}  // namespace

TEST_CASE(
    "a release waits for other holders that let go and names those that do not; asking again gives "
    "the news") {
  const Device device;
  Rig rig(2, {kind("self"), kind("sm"), device.tcp()});
  Ladder ladder{rig, [] {}};
  Fd held = device.open();
  ladder.go(without_tcp());
  auto holders = rig.engines[0]->report().other_holders;
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].starts_with("tcp: " + device.path + " is open as descriptor "));
  held = Fd();
  CHECK(rig.engines[0]->report().other_holders.size() == 1);  // nobody has looked since
  rig.engines[0]->look_for_holders();
  CHECK(rig.engines[0]->report().other_holders.empty());
  ladder.go({});
  ladder.go(without_tcp());
  CHECK(rig.engines[0]->report().other_holders.empty());
}

TEST_CASE("a holder that is about to let go is waited for") {
  const Device device;
  Rig rig(2, {kind("self"), kind("sm"), device.tcp()});
  Fd held = device.open();
  int looked = 0;
  Ladder ladder{rig, [&] {
                  const auto& report = rig.engines[0]->report();
                  looked += report.other_holders.empty() ? 0 : 1;
                  if (looked > 0) held = Fd();
                }};
  ladder.go(without_tcp());
  CHECK(looked > 0);
  CHECK(rig.engines[0]->report().other_holders.empty());
}

TEST_CASE("a device that was never opened is looked for when somebody asks") {
  const Device device;
  core::Routing routing = without_tcp();
  Rig rig(2, {kind("self"), kind("sm"), device.tcp()}, 1, {}, 1, routing);
  CHECK(rig.engines[0]->report().other_holders.empty());
  const Fd held = device.open();
  rig.engines[0]->look_for_holders();
  CHECK(rig.engines[0]->report().other_holders.size() == 1);
}
