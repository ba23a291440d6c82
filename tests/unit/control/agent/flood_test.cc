// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/flood_test.cc -- a member that talks without end keeps no command from its end.
#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "control/place/member_file.h"
#include "control/wire/local_door.h"
#include "ctl-tool/ask.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

/// A member beside those of the job: it tells everybody who connects the same again and again.
class Flooder {
 public:
  Flooder(const JobOfFakes& job, std::string body) : body_(std::move(body)) {
    MemberCard card = job.place().members.live.at(0);
    card.member.process = kProcess;
    card.rank = 1;
    card.name = "rank 1 that floods";
    auto door = LocalDoor::listen(socket_path(job.directory(), kProcess), 16);
    REQUIRE(door);
    auto file = MemberFile::publish(job.directory(), card);
    REQUIRE(file);
    file_.emplace(std::move(*file));
    thread_ = std::thread([this, door = std::move(*door)]() mutable { run(door); });
  }
  ~Flooder() {
    stop_.store(true);
    thread_.join();
  }

 private:
  static constexpr ProcessId kProcess{0x1fff};

  void run(LocalDoor& door) {
    std::set<std::string> peers;
    while (!stop_.load()) {
      door.turn(monotonic_now());
      while (const auto asked = door.receive()) peers.insert(asked->peer);
      for (const std::string& gone : door.ended()) peers.erase(gone);
      for (const std::string& peer : peers) {
        for (int i = 0; i < 100; ++i)
          door.send({.peer = peer, .back = "", .to = process_name(kProcess), .body = body_});
      }
    }
  }

  std::string body_;
  std::optional<MemberFile> file_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::vector<std::string> floods() {
  return {"no message", *encode(MembersAnswer{"test", 0, 0, true, {}, {}, false}),
          *encode(ErrorAnswer{Errc::kInvalid, "no"})};
}

}  // namespace

TEST_CASE("a command ends at its time-out, whatever a member says without end") {
  for (const std::string& body : floods()) {
    CAPTURE(body);
    JobOfFakes job(2);
    job.add_member();
    const Flooder flooder(job, body);
    auto command = JobOfFakes::command("switch", {"sm", "tcp"});
    command.times.total = kSecond;
    const auto outcome = job.run(command);
    CHECK(outcome.code != ExitCode::kDone);
    CHECK(job.admin(0).orders().empty());
  }
}

TEST_CASE("a question to any member ends at its time-out, whatever a member says without end") {
  for (const std::string& body : floods()) {
    CAPTURE(body);
    JobOfFakes job(2);
    job.add_member();
    const Flooder flooder(job, body);
    auto links = job.links();
    const std::atomic<bool> stop{false};
    tool::Asker<PlanAnswer> asker(links, kSecond, stop);
    CHECK_FALSE(asker.ask_any(ListRequest{"test"}));
  }
}
