// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/client/backlog_test.cc -- a member that talks without end fills btlctl's
// backlog; other nodes are found all the same.
#include <string>

#include "tests/unit/control/agent/flooder.h"
#include "tests/unit/control/agent/two_nodes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

TEST_CASE("a member that fills the backlog keeps no relay from being heard") {
  constexpr std::size_t kTextBytes = 60'000;
  constexpr std::size_t kFills = 1300;  // the backlog, 64 MiB, and what is still on its way
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes one(4, "alpha", 0, keys / "one"), two(4, "beta", 2, keys / "one");
  one.add_members(2);
  const Flooder flooder(one, -1, "",
                        *encode(ErrorAnswer{Errc::kInvalid, std::string(kTextBytes, 'x')}));
  auto links = one.links();
  for (const MemberEntry& member : links.found().live)
    links.send(member.member, ListRequest{"test"});
  REQUIRE(eventually([&] {
    links.scan();
    return flooder.told() > kFills;
  }));
  two.add_members(2);
  REQUIRE(eventually([&] { return valid_relay(relay_of(two)); }));
  one.admin(1).learn_relay(relay_of(two));
  CHECK(eventually([&] { return links.scan().live.size() == 5; }));
}

TEST_CASE("who orders another user's job speaks to that user's processes alone") {
  JobOfFakes job(1);
  job.add_member();
  JobPlace place = job.place();
  REQUIRE(place.members.live.size() == 1);
  const MemberId member = place.members.live.front().member;
  CHECK(JobLinks::open(place).send(member, ListRequest{"test"}));
  place.owner = ::geteuid() + 1;  // as if a link in that user's directory led here
  CHECK_FALSE(JobLinks::open(place).send(member, ListRequest{"test"}));
}
