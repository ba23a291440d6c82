// SPDX-License-Identifier: BSD-3-Clause
// LIVEBTL_AUTH=none: what anyone who can connect may then do, and what not even then. SECURITY.md
// says the same.
#include "tests/unit/core/engine/hostile_member.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// One rank, whose job has no secret.
struct Open {
  Rig rig{1, {kind("self"), kind("tcp")}, 1, {}, 1, {}, Secret{}};
  core::EngineStatus status() { return rig.engines[0]->status(); }
};

}  // namespace

TEST_CASE("without a secret a stranger who knows the job's name sends what a rank receives") {
  Open job;
  HostileMember stranger(job.rig, {.secret = Secret{}});
  std::uint64_t number = 0;
  const MutableSlice slice{&number, sizeof number};
  Watched receive;
  REQUIRE(job.rig.ports[0]->receive({.ignore = ~Tag{0}, .slices = {&slice, 1}}, receive) ==
          Accept::kAccepted);
  const std::uint64_t sent = 4711;
  stranger.send(core::FrameKind::kEager, core::MessageBody{}, bytes_of(sent), core::kFlagTagged);
  stranger.until([&] { return receive.done_count == 1; });
  CHECK(receive.completion.code == Errc::kOk);
  CHECK(number == 4711);
}

TEST_CASE("without a secret the job's name must still be right, and one with a secret is refused") {
  Open job;
  HostileMember of_another(job.rig, {.secret = Secret{}, .job = "test2"});
  of_another.until([&] { return of_another.down(); });
  HostileMember with_secret(job.rig, {});
  with_secret.until([&] { return with_secret.down(); });
  CHECK(job.status().peers.empty());
}

TEST_CASE(
    "without a secret a stranger can fence a rank out of its job, by claims that it was restored") {
  Open job;
  HostileMember first(job.rig, {.secret = Secret{}, .incarnation = Incarnation{1}});
  first.until([&] { return job.status().incarnation == Incarnation{1}; });
  HostileMember second(job.rig, {.secret = Secret{}, .incarnation = Incarnation{2}});
  second.until([&] { return job.status().hold.state == core::HoldState::kFenced; });
}

TEST_CASE("without a secret a claim that no restore can make is not believed") {
  Open job;
  HostileMember first(job.rig, {.secret = Secret{}, .incarnation = core::Fence::kBelievedBelow});
  first.until([&] { return first.down(); });
  CHECK(job.status().incarnation == Incarnation{});
  HostileMember second(job.rig, {.secret = Secret{}});  // as valid as before
  CHECK(!second.down());
}
