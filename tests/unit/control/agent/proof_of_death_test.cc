// SPDX-License-Identifier: BSD-3-Clause
// Agents that find proof that a peer has ended, in their own directory or from a relay, and tell
// their engines.
#include "control/place/member_file.h"
#include "two_nodes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

TEST_CASE("of a member that has left the engine is told that it has ended") {
  JobOfFakes job(3);
  job.add_members(2);
  job.add_spawned_member();  // nobody counts it
  for (const std::size_t left : {1u, 2u}) {
    job.remove_member(left);
    job.admin(0).seek(job.process(left));
    CHECK(eventually([&] { return job.admin(0).dead(job.process(left)); }));
  }
}

TEST_CASE("of one that was killed, too: nobody holds the lock of its file") {
  JobOfFakes job(2);
  job.add_members(2);
  MemberCard card;
  card.member = {ProcessId{0x7777}, Incarnation{1}};
  card.mark.pid = 1;
  card.run = current_run(job.directory(), ::geteuid());
  card.name = "rank 7";
  card.node = "00000000000000aa";
  write_file(card_path(job.directory(), card.member.process), format_card(card));
  write_file(socket_path(job.directory(), card.member.process), "");
  job.admin(0).seek(card.member.process);
  CHECK(eventually([&] { return job.admin(0).dead(card.member.process); }));
  job.admin(0).seek(job.process(1));  // whose lock is held
  CHECK(eventually([&] { return job.admin(0).answers(job.process(1)) >= 3; }));
  CHECK_FALSE(job.admin(0).dead(job.process(1)));
}

TEST_CASE("a process that has ended on another node is told of by its relay") {
  TwoNodes nodes;
  const ProcessId ended = nodes.two->process(1);
  nodes.two->remove_member(1);
  nodes.one->admin(1).seek(ended);
  CHECK(eventually([&] { return nodes.one->admin(1).dead(ended); }));
  nodes.one->admin(1).seek(nodes.two->process(0));  // it lives, but listens nowhere
  CHECK(eventually([&] { return nodes.one->admin(1).answers(nodes.two->process(0)) >= 3; }));
  CHECK_FALSE(nodes.one->admin(1).dead(nodes.two->process(0)));
}

TEST_CASE("the word of a relay that proves nothing ends no peer") {
  JobOfFakes one(4, "alpha", 0, "", false), two(4, "beta", 2, "", false);
  one.add_members(2);
  two.add_members(2);
  one.admin(1).learn_relay(relay_of(two));
  const ProcessId ended = two.process(1);
  two.remove_member(1);
  one.admin(1).seek({ended, two.process(0)});
  CHECK(eventually([&] { return one.admin(1).answers(two.process(0)) >= 3; }));
  CHECK_FALSE(one.admin(1).dead(ended));
}
