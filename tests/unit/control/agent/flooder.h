// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/flooder.h -- a member that talks without end, on a thread of its own.
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "control/place/member_file.h"
#include "control/wire/local_door.h"
#include "job_of_fakes.h"

namespace livebtl::test {

using namespace livebtl::control;

/// An extra member of the job that sends everybody who connects the same message again and again.
/// rank -1: it was spawned.
class Flooder {
 public:
  Flooder(const JobOfFakes& job, int rank, std::string back, std::string body)
      : back_(std::move(back)), body_(std::move(body)) {
    MemberCard card = job.place().members.live.at(0);
    card.member.process = kProcess;
    card.rank = rank;
    card.name = "one that floods";
    if (rank < 0) card.announced = 0;
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

  /// How many times the message was sent.
  std::size_t told() const noexcept { return told_.load(); }

  static constexpr ProcessId kProcess{0x1fff};

 private:
  void run(LocalDoor& door) {
    std::set<std::string> peers;
    while (!stop_.load()) {
      door.turn(monotonic_now());
      while (const auto asked = door.receive()) peers.insert(asked->peer);
      for (const std::string& gone : door.ended()) peers.erase(gone);
      for (const std::string& peer : peers) {
        for (int i = 0; i < 100; ++i)
          if (door.send({.peer = peer, .back = back_, .to = process_name(kProcess), .body = body_}))
            ++told_;
      }
    }
  }

  std::string back_, body_;
  std::optional<MemberFile> file_;
  std::atomic<std::size_t> told_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace livebtl::test
