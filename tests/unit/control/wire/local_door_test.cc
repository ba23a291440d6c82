// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/local_door_test.cc -- the socket at which a process accepts connections
// from its node: real connections, more than it accepts, and no descriptors left.
#include "control/wire/local_door.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "some_envelope.h"
#include "tests/unit/control/agent/few_descriptors.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

struct Door {
  explicit Door(std::size_t connections_max = 8) {
    auto made = LocalDoor::listen(path, connections_max);
    REQUIRE(made);
    door.emplace(std::move(*made));
    door->turn(0);  // from now on it has spare descriptors
  }
  LocalLink connect() const {
    auto link = LocalLink::connect(path);
    REQUIRE(link);
    return std::move(*link);
  }
  int heard() {
    int count = 0;
    while (door->receive()) ++count;
    return count;
  }
  Scratch scratch;
  std::string path = scratch / "door";
  std::optional<LocalDoor> door;
};

}  // namespace

TEST_CASE("a door answers each of its connections, and says which have ended") {
  Door door;
  LocalLink one = door.connect(), two = door.connect();
  REQUIRE(one.send(envelope_of("from one")));
  REQUIRE(two.send(envelope_of("from two")));
  door.door->turn(0);
  for (int i = 0; i < 2; ++i) {
    auto envelope = door.door->receive();
    REQUIRE(envelope);
    envelope->body += ", back";
    CHECK(door.door->send(*envelope));
  }
  CHECK(one.receive()->body == "from one, back");
  CHECK(two.receive()->body == "from two, back");
  CHECK(door.door->ended().empty());
  { const LocalLink gone = std::move(one); }
  CHECK_FALSE(door.door->receive());
  CHECK(door.door->ended().size() == 1);
  CHECK(door.door->connections() == 1);
  CHECK_FALSE(door.door->send({.peer = "1", .back = "", .to = "", .body = "nobody"}));
  CHECK_FALSE(door.door->send({.peer = "no number", .back = "", .to = "", .body = "nobody"}));
}

TEST_CASE("a connection that never pauses holds up no other") {
  Door door;
  LocalLink busy = door.connect(), quiet = door.connect();
  for (int i = 0; i < 20; ++i) REQUIRE(busy.send(envelope_of("busy")));
  REQUIRE(quiet.send(envelope_of("quiet")));
  door.door->turn(0);
  const std::string first = door.door->receive()->body;
  CHECK(door.door->receive()->body != first);
}

TEST_CASE("silent connections make room for others, and take none from those that speak") {
  Door door(8);
  LocalLink speaker = door.connect();
  REQUIRE(speaker.send(envelope_of("here")));
  door.door->turn(0);
  REQUIRE(door.door->receive());
  std::vector<LocalLink> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(door.connect());
    door.door->turn(0);
    CHECK(door.door->connections() <= 8);
  }
  REQUIRE(speaker.send(envelope_of("still here")));
  const auto heard = door.door->receive();
  REQUIRE(heard);
  CHECK(heard->body == "still here");
}

TEST_CASE("a door's socket is its user's alone") {
  Door door;
  struct stat facts {};
  REQUIRE(::stat(door.path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("without a descriptor nothing can be connected or listened at, which is said") {
  Door door;
  const FewDescriptors none(0);
  const auto link = LocalLink::connect(door.path);
  REQUIRE_FALSE(link);
  CHECK(link.error().code == Errc::kNoMemory);
  const auto other = LocalDoor::listen(door.scratch / "other", 8);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == Errc::kNoMemory);
  CHECK(other.error().text.find("ulimit -n") != std::string::npos);
}

TEST_CASE("a door takes some connections without any descriptor left, and the others when it can") {
  Door door;
  std::vector<LocalLink> links;
  for (int i = 0; i < 6; ++i) {
    links.push_back(door.connect());
    REQUIRE(links.back().send(envelope_of(std::to_string(i))));
  }
  TimeNs now = 0;
  {
    const FewDescriptors none(0);
    door.door->turn(now);
    CHECK(door.heard() == 4);
    CHECK(door.door->starved());
    std::vector<pollfd> fds;
    door.door->add_poll_fds(fds);
    CHECK(fds.size() == 4);  // polling the socket itself would wake it for nothing
    door.door->turn(now);
    CHECK(door.heard() == 0);
    now = door.door->wake_at();
    REQUIRE(now != INT64_MAX);
    links.erase(links.begin(), links.begin() + 2);
    CHECK(door.heard() == 0);
  }
  door.door->turn(now);
  CHECK(door.heard() == 2);
  CHECK_FALSE(door.door->starved());
}
