// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/doctor_job.cc -- see doctor_job.h.
#include "ctl-tool/doctor_job.h"

#include <map>

#include "ctl-tool/hook_files.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::MemberEntry;
using control::StatusAnswer;
using doctor::Report;

constexpr std::size_t kNamesMax = 4;

/// "rank 1 on a, rank 2 on a and 7 more"
std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamesMax)));
  const std::size_t more = names.size() - shown.size();
  return join(shown, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

/// Names of processes, by what was found in them.
using ByReason = std::map<std::string, std::vector<std::string>>;

void check_members(const JobSight& sight, Report& report) {
  std::vector<std::string> silent;
  for (const MemberEntry& member : sight.silent) silent.push_back(printable(member.name));
  if (!silent.empty()) {
    report.fault("job-silent", some_of(silent) + " did not answer",
                 "No switch can be done without them; a stopped process answers nothing, nor does "
                 "a node whose relay is not reached.",
                 "btlctl status; on that node: btlctl jobs; is the process stopped, or a port of "
                 "the relay blocked by a firewall?");
  }
  if (sight.missing.count != 0) {
    report.fault(
        "job-missing",
        std::to_string(sight.missing.count) + " of " + std::to_string(sight.missing.announced) +
            " processes that the launcher announced are not there",
        "They have not started yet, have ended without notice, or are on a node that cannot "
        "be reached now.",
        "btlctl status names their ranks, btlctl top --once the paths that were lost; "
        "ping their node");
  }
  if (!sight.conflict.empty())
    report.fault("job-conflict", printable(sight.conflict),
                 "Processes of two jobs take each other for their own.",
                 "start each job with a LIVEBTL_JOB of its own, or with none");
}

void check_ladders(const JobSight& sight, Report& report) {
  std::vector<std::string> open;
  ByReason refused, unwell;
  for (const auto& [member, answer] : sight.answers) {
    const auto& standing = answer.standing;
    const std::string name = printable(member.name);
    const bool between = standing.rung == core::Rung::kJoint || standing.rung == core::Rung::kNewTx;
    if ((between || standing.left_open) && !standing.busy) open.push_back(name);
    if (!standing.report.refusal.empty())
      refused[printable(standing.report.refusal)].push_back(name);
    const auto& hold = answer.engine.hold;
    if (hold.state == core::HoldState::kBroken || hold.state == core::HoldState::kFenced)
      unwell[printable(hold.why)].push_back(name);
  }
  if (!open.empty()) {
    report.fault(
        "job-unfinished", some_of(open) + " stand in the middle of a switch that nobody leads",
        "Both networks are held open until it is ended.", "btlctl resume, or btlctl abort");
  }
  for (const auto& [why, names] : refused)
    report.fault("job-refused", some_of(names) + " refused the last order: " + why,
                 "The switch was not done there.", "fix what is named, and give the command again");
  for (const auto& [why, names] : unwell)
    report.fault("job-hold", some_of(names) + ": " + why,
                 "Snapshots of that hold do not fit together, or the process is a copy that was "
                 "left behind.",
                 "btlctl hold check; btlctl hold end");
}

void check_transports(const JobSight& sight, Report& report) {
  ByReason absent, lost;
  for (const auto& [member, answer] : sight.answers) {
    for (const auto& transport : answer.engine.transports) {
      if (!transport.absent.empty())
        absent[printable(transport.name + ": " + transport.absent)].push_back(
            printable(member.name));
      if (transport.corrupt_frames != 0)
        lost[printable(transport.name)].push_back(printable(member.name));
    }
  }
  for (const auto& [why, names] : absent)
    report.fault("job-transport", some_of(names) + " cannot use " + why,
                 "Their pairs go by the next best transport.",
                 "fix what is named: it comes back by itself; or btlctl remove it from all");
  for (const auto& [name, names] : lost)
    report.fault("job-corrupt", some_of(names) + " received damaged frames over " + name,
                 "They were sent again and nothing is lost, but some cable, card or memory is bad.",
                 "ip -s link; look for errors on the way between the nodes");
}

}  // namespace

void check_job(const JobSight& sight, Report& report) {
  check_members(sight, report);
  check_ladders(sight, report);
  check_transports(sight, report);
  report.fact("job " + printable(sight.job),
              counted(sight.answers.size(), "process", "processes") + " answered");
}

void check_hooks(const std::filesystem::path& root, Report& report) {
  for (const Hook& hook : hooks()) {
    const auto place = place_of(hook, root);
    const HookState state = state_of(hook, root, place);
    if (state == HookState::kMissing) continue;  // few machines need all
    if (state == HookState::kCurrent) {
      report.fact("hook " + std::string(hook.name), place.string());
      continue;
    }
    report.fault("hook", place.string() + ": " + text_of(state),
                 "What calls it calls nothing of livebtl's, or another version: a machine may be "
                 "moved under a job that was not told.",
                 "btlctl hooks check; btlctl hooks install " + std::string(hook.name));
  }
}

}  // namespace livebtl::tool
