// SPDX-License-Identifier: BSD-3-Clause
// control/relay/finish.cc -- see finish.h.
#include "control/relay/finish.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/secret.h"
#include "control/client/drive.h"
#include "control/ladder/takeover_watch.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

/// What to tell the member, as kFinisherNote.
std::string finish(const FinishFacts& facts, const std::atomic<bool>& stop) {
  auto links = JobLinks::open({facts.job, facts.directory, ::geteuid(), {}});
  const auto& live = links.found().live;
  const bool lowest = std::none_of(live.begin(), live.end(),
                                   [&](const MemberEntry& each) { return each.node < facts.node; });
  if (!lowest && !facts.left_alone) return std::string(kFinishedNotOurs);
  Command command = takeover_command(facts.job, random_u64());
  const auto self = std::ranges::find(live, facts.member,
                                      [](const MemberEntry& each) { return each.member.process; });
  command.by =
      "the job itself, by " + (self == live.end() ? process_name(facts.member) : self->name);
  const auto outcome = drive(links, command, {}, stop);
  if (!outcome) return std::string(kFinishedInVain);
  const bool done = outcome->code == ExitCode::kDone || outcome->code == ExitCode::kForeign;
  const std::string word(done ? kFinishedDone : kFinishedInVain);
  return outcome->already ? word : word + "\n" + outcome->text;
}

/// The member sends nothing over this connection, so its end is all there can be.
void watch_member(int fd, std::atomic<bool>& stop) {
  constexpr int kLookMs = 200;
  while (!stop.load()) {
    pollfd end{fd, POLLIN, 0};
    if (::poll(&end, 1, kLookMs) > 0) stop.store(true);
  }
}

}  // namespace

int finish_ladder(const FinishFacts& facts) {
  auto member = LocalLink::connect(socket_path(facts.directory, facts.member));
  if (!member) return 1;
  const auto tell = [&member](const std::string& body) {
    return member->send({.peer = "", .back = "", .to = std::string(kFinisherNote), .body = body});
  };
  if (!tell("")) return 1;
  std::atomic<bool> stop{false};
  std::thread watch(watch_member, member->fd(), std::ref(stop));
  const std::string end = finish(facts, stop);
  stop.store(true);
  watch.join();
  return tell(end) ? 0 : 1;
}

}  // namespace livebtl::control
