// SPDX-License-Identifier: BSD-3-Clause
// search_test.cc -- agents that find out for their engines where a peer listens: over real sockets,
// with fake engines. For searches through relays see relay_test.cc.
#include "control/agent/router.h"
#include "control/agent/search_plan.h"
#include "control/wire/messages.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {
const core::Contacts kSomewhere = {{"tcp", Blob(26, std::byte{1})}, {"sm", Blob(8, std::byte{2})}};
const core::Contacts kElsewhere = {{"tcp", Blob(26, std::byte{3})}};
}  // namespace

TEST_CASE("a member that cannot be reached is asked where it listens, and the engine is told") {
  JobOfFakes job(3);
  job.add_members(3);
  job.admin(1).listen_at(kSomewhere);
  job.admin(2).listen_at(kElsewhere);
  job.admin(0).seek(job.process(1));
  job.admin(0).seek(job.process(2));
  CHECK(eventually([&] { return job.admin(0).introduced(job.process(1)) == kSomewhere; }));
  CHECK(eventually([&] { return job.admin(0).introduced(job.process(2)) == kElsewhere; }));
  CHECK(eventually([&] { return !job.admin(0).seeks(); }));
}

TEST_CASE("whoever listens nowhere yet is asked again, and answers once it does") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(0).seek(job.process(1));
  CHECK(eventually([&] { return job.admin(0).answers(job.process(1)) >= 3; }));
  CHECK(job.admin(0).seeks());
  job.admin(1).listen_at(kSomewhere);
  CHECK(eventually([&] { return job.admin(0).introduced(job.process(1)) == kSomewhere; }));
}

TEST_CASE("a process of which nothing is known is asked in vain, and orders go on meanwhile") {
  JobOfFakes job(2);
  job.add_members(2);
  const ProcessId unknown{0x7777};
  job.admin(0).seek(unknown);
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  CHECK(job.admin(0).seeks());
  CHECK(job.admin(0).answers(unknown) == 0);
  CHECK_FALSE(job.admin(0).dead(unknown));
}

namespace {

/// A member's socket that answers each question for its addresses with some of another member's.
class Liar {
 public:
  Liar(const JobOfFakes& job, ProcessId self, ProcessId other)
      : self_(self), answer_{{other, Incarnation{1}}, 0, kElsewhere} {
    auto door = LocalDoor::listen(socket_path(job.directory(), self), 16);
    REQUIRE(door);
    door_.emplace(std::move(*door));
  }
  /// From now on it also claims to be the other one.
  void pretend() { pretends_ = true; }
  /// From now on it says that the other one has ended, as a relay would.
  void bury() { buries_ = pretends_ = true; }
  /// Returns true if it answered a question.
  bool answer_one() {
    door_->turn(monotonic_now());
    const auto envelope = door_->receive();
    if (!envelope) return false;
    const auto message = decode(envelope->body);
    const auto* asked = message ? std::get_if<AddressesRequest>(&*message) : nullptr;
    if (asked == nullptr) return false;
    answer_.question = asked->question;
    const ErrorAnswer ended{Errc::kPeerLost, "it has ended"};
    const auto body = buries_ ? encode(ended) : encode(answer_);
    REQUIRE(body);
    const std::string back = pretends_ ? process_name(answer_.member.process) : envelope->back;
    return door_->send(
        {.peer = envelope->peer, .back = back, .to = process_name(self_), .body = *body});
  }

 private:
  ProcessId self_;
  AddressesAnswer answer_;
  bool pretends_ = false;
  bool buries_ = false;
  std::optional<LocalDoor> door_;
};

}  // namespace

TEST_CASE("an answer counts only if that was asked") {
  JobOfFakes job(2);
  job.add_members(2);  // the second one is sought, and says that it listens nowhere
  const ProcessId liar_id{0x9999};
  Liar liar(job, liar_id, job.process(1));
  liar.pretend();
  job.admin(0).seek(std::vector{job.process(1), liar_id});
  int answered = 0;
  CHECK(eventually([&] { return (answered += liar.answer_one() ? 1 : 0) >= 3; }));
  CHECK(eventually([&] { return job.admin(0).answers(job.process(1)) >= 3; }));
  CHECK(job.admin(0).introduced(job.process(1)).empty());
  job.admin(1).listen_at(kSomewhere);
  CHECK(eventually([&] { return job.admin(0).introduced(job.process(1)) == kSomewhere; }));
}

TEST_CASE("a member's word that another has ended is no proof") {
  JobOfFakes job(2);
  job.add_members(2);
  const ProcessId liar_id{0x9999};
  Liar liar(job, liar_id, job.process(1));
  liar.bury();
  job.admin(0).seek(std::vector{job.process(1), liar_id});
  int answered = 0;
  CHECK(eventually([&] { return (answered += liar.answer_one() ? 1 : 0) >= 3; }));
  CHECK_FALSE(job.admin(0).dead(job.process(1)));
}

TEST_CASE("an answer counts for nobody but the process that was asked") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(1).listen_at(kSomewhere);
  const ProcessId liar_id{0x9999};
  Liar liar(job, liar_id, job.process(1));
  job.admin(0).seek(liar_id);
  int answered = 0;
  CHECK(eventually([&] { return (answered += liar.answer_one() ? 1 : 0) >= 3; }));
  CHECK(job.admin(0).introduced(job.process(1)).empty());
  job.admin(0).seek(job.process(1));
  CHECK(eventually([&] { return job.admin(0).introduced(job.process(1)) == kSomewhere; }));
  CHECK(job.admin(0).answers(liar_id) == 0);
  CHECK(job.admin(0).introduced(liar_id).empty());
}

TEST_CASE("what an engine reports does not end the pause, unless an order was carried out") {
  JobOfFakes job(1);
  job.add_members(1);
  const ProcessId liar_id{0x9999};
  Liar liar(job, liar_id, job.process(0));
  const TimeNs start = monotonic_now();
  job.admin(0).seek(liar_id);
  int answered = 0;
  CHECK(eventually([&] {
    job.admin(0).release();  // a report
    return (answered += liar.answer_one() ? 1 : 0) >= 5;
  }));
  CHECK(monotonic_now() - start >= (1 + 1 + 2 + 4) * SearchPlan::kPauseLeast);
}

TEST_CASE("fellow members are asked for relays once a round, however many are sought") {
  constexpr std::uint64_t kTurnsARound = 4;
  JobOfFakes job(2);
  job.add_members(2);
  std::vector<ProcessId> nowhere;
  while (nowhere.size() < kTurnsARound * SearchPlan::kAtOnce)
    nowhere.push_back(ProcessId{0x9000 + nowhere.size()});
  job.admin(0).seek(nowhere);
  CHECK(eventually([&] { return job.admin(1).relays_asked.load() >= 4; }));
  const std::uint64_t asked = job.admin(1).relays_asked.load();
  // Plus once at the start.
  CHECK(asked <= job.admin(0).unreached_asked.load() / kTurnsARound + 1);
}
