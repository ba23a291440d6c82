// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hold_command.cc -- hold start | renew | check | end: parks all traffic of a job while
// snapshots are taken of its machines. job restored: lets it go on from these.
#include <ctime>

#include "base/secret.h"
#include "control/client/drive.h"
#include "ctl-tool/commands.h"
#include "ctl-tool/hold_plan.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/report.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

control::HoldVerb verb_of(const CommandLine& line) {
  if (line.verb == "job") return control::HoldVerb::kRestored;
  if (line.arguments.front() == "start") return control::HoldVerb::kStart;
  if (line.arguments.front() == "renew") return control::HoldVerb::kRenew;
  return line.arguments.front() == "check" ? control::HoldVerb::kCheck : control::HoldVerb::kEnd;
}

control::HoldCommand hold_of(const CommandLine& line, const std::string& job) {
  control::HoldCommand command;
  command.job = job;
  command.verb = verb_of(line);
  command.incarnation = Incarnation{static_cast<std::uint32_t>(std::time(nullptr))};
  const std::uint64_t drawn = command.verb == control::HoldVerb::kStart ? random_u64() | 1 : 0;
  command.id = read_hold_id(line.hold_id).value_or(drawn);
  command.lease_ms = static_cast<std::uint32_t>(line.lease_s * 1000.0);
  command.dry_run = line.dry_run;
  command.times.total = line.timeout_for_change();
  return command;
}

}  // namespace

std::optional<control::Outcome> plan_hold(const CommandLine& line, control::JobLinks& links,
                                          const std::atomic<bool>& stop) {
  CommandLine hold = line;
  hold.verb = "hold";
  hold.arguments = {"start"};
  hold.dry_run = true;
  return control::drive(links, hold_of(hold, links.job()), {}, stop);
}

int run_hold(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, std::min(line.timeout_for_change(), kJobAppears), stop);
  if (!links) return fail_early(line, links.error());
  ProgressLine progress(line);
  const auto outcome = control::drive(
      *links, hold_of(line, links->job()),
      [&](const control::HoldProgress& now) {
        progress.show("parked " + std::to_string(now.parked) + "/" + std::to_string(now.members),
                      now.parked == now.members);
      },
      stop);
  progress.clear();
  if (outcome) {
    report(line, *outcome);
    return static_cast<int>(outcome->code);
  }
  const std::string text =
      line.verb == "job"
          ? "interrupted; call it again before the leases end"
          : "interrupted; btlctl hold end ends what may be held, else its lease does";
  complain(text);
  if (line.json) print(control::outcome_json(plain_outcome(line, kInterrupted, text)) + "\n");
  return kInterrupted;
}

}  // namespace livebtl::tool
