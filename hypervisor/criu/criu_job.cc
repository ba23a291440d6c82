// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_job.cc -- see criu_job.h.
#include "hypervisor/criu/criu_job.h"

#include <sched.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "hypervisor/criu/criu_machine.h"
#include "hypervisor/criu/nodes_steps.h"

namespace livebtl::hypervisor {
namespace {

#ifdef CLONE_NEWTIME
constexpr int kNewClock = CLONE_NEWTIME;
#else
constexpr int kNewClock = 0x80;
#endif

Report begun_report(const char* verb, const CriuRequest& request) {
  Report report{.verb = verb, .object_key = "of", .dry_run = request.dry_run};
  report.details = {{"directory", request.directory}, {"hold", ""}};
  return report;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// What is run on each node.
std::string text_of_nodes(const NodeGroup& group, const std::vector<std::string>& nodes,
                          const std::string& does) {
  std::string text;
  for (const std::string& node : nodes) text += joined(group.words_on(node)) + "; ";
  return text + does;
}

std::string text_of_dump(Action action, const CriuRequest& request, const DumpSteps& steps) {
  const auto told = [&](const Verb& verb) {
    return "here" + order_text(steps.told(), verb, request.timeout);
  };
  switch (action.step) {
    case Step::kClaim:
      return "make " + request.directory + ", empty, for its owner alone";
    case Step::kPrepare:
      return told(verb_of(GuestOrder::kPrepare, "")) + ", and the same for sm";
    case Step::kHold:
      return told(hold_start("ID", request.lease));
    case Step::kSave:
      return joined(dump_words(request.criu, steps.root(), request.directory + "/images",
                               request.goes_on, Budget::way_there(request.timeout))) +
             " (" + std::to_string(steps.processes()) + " processes)";
    case Step::kCheck:
      return told(hold_check("ID"));
    case Step::kSeal:
      return "write " + request.directory + "/" + kSetFile;
    case Step::kEndHold:
      return told(hold_end("ID"));
    default:
      return told(verb_of(GuestOrder::kReturn, ""));
  }
}

/// ", by 10.0.0.2=10.0.0.7"
std::string by_addresses(const CriuRequest& request) {
  std::string text;
  for (const NewAddress& each : request.addresses)
    text += (text.empty() ? ", by " : " ") + to_text(each);
  return text;
}

/// The dump has recorded whose job it is and its name, which are read when it is loaded.
std::string text_of_restart(Action action, const CriuRequest& request, const std::string& hold) {
  if (action.step == Step::kLoad)
    return joined(restore_words(request.criu, request.directory + "/images")) +
           by_addresses(request);
  const Verb verb =
      action.step == Step::kRestored ? job_restored(hold) : verb_of(GuestOrder::kReturn, "");
  return "here" + order_text({request.job.btlctl, "JOB", "UID"}, verb, request.timeout) +
         " (JOB, UID: as in the set)";
}

/// Only looks, and reports what would be done next.
void plan(Sequence& machine, Steps& steps, const Describe& describe, Report& report) {
  machine.answer(steps.perform({Step::kLook}));
  report.end = machine.end();
  if (machine.next().step == Step::kEnd) return;
  report.plan = play(machine, describe, [](Action) { return Answer{}; });
  report.end = {kCodeDone, "nothing was done"};
}

/// Drives it; if the dump succeeds, reports what is left for the user to do.
void carry_out_dump(DumpMachine& machine, DumpSteps& steps, const std::atomic<bool>& stop,
                    const Progress& progress, Report& report) {
  drive(machine, steps, stop, progress, report);
  report.details["hold"] = steps.hold();
  if (report.end.code != kCodeDone || steps.unsure().empty()) return;
  report.end = {kCodeNotReturned,
                "the job is dumped, and the set is whole, but not all have said that its processes "
                "are ended",
                {"end what is left of the job's processes on " + steps.unsure()}};
}

Report dump_nodes(const CriuRequest& request, const std::atomic<bool>& stop,
                  const Progress& progress, Report report) {
  const auto nodes = request.find_nodes();
  if (!nodes) {
    report.end = {code_of(nodes.error().code), nodes.error().text};
    return report;
  }
  DumpMachine machine(request.node, request.goes_on);
  NodesDumpSteps steps(request, *nodes, stop, progress);
  const auto describe = [&](Action action) {
    if (action.step != Step::kSave) return text_of_dump(action, request, steps);
    std::vector<std::string> hosts;
    for (const std::string& node : *nodes) hosts.push_back(host_of(request, node));
    return text_of_nodes(steps.group(), hosts, "criu dump there, of all at the same time");
  };
  if (request.dry_run) {
    plan(machine, steps, describe, report);
    return report;
  }
  carry_out_dump(machine, steps, stop, progress, report);
  return report;
}

Report restart_nodes(const CriuRequest& request, const SetFile& set, const std::atomic<bool>& stop,
                     const Progress& progress, Report report) {
  RestartMachine machine("");
  NodesRestartSteps steps(request, set, stop, progress);
  const auto describe = [&](Action action) {
    if (action.step != Step::kLoad) return text_of_restart(action, request, set.hold);
    std::vector<std::string> nodes;
    for (const SavedMachine& each : set.machines) nodes.push_back(host_of(request, each.name));
    return text_of_nodes(steps.group(), nodes,
                         "criu restore there, of all at the same time" + by_addresses(request));
  };
  if (request.dry_run) {
    plan(machine, steps, describe, report);
  } else {
    drive(machine, steps, stop, progress, report);
  }
  return report;
}

}  // namespace

Report dump_job(const CriuRequest& request, const std::atomic<bool>& stop,
                const Progress& progress) {
  Report report = begun_report("checkpoint run", request);
  if (!request.node_command.empty()) return dump_nodes(request, stop, progress, std::move(report));
  DumpMachine machine(request.node, request.goes_on);
  DumpSteps steps(request, stop, progress);
  if (request.dry_run) {
    plan(
        machine, steps, [&](Action action) { return text_of_dump(action, request, steps); },
        report);
  } else {
    carry_out_dump(machine, steps, stop, progress, report);
  }
  return report;
}

Report restart_job(const CriuRequest& request, const std::atomic<bool>& stop,
                   const Progress& progress) {
  Report report = begun_report("checkpoint restore", request);
  const auto set = SetDirectory(request.directory, {}, kProcessSet).read_sealed();
  if (!set) {
    report.end = {code_of_set(set.error().code), set.error().text};
    return report;
  }
  report.details["hold"] = set->hold;
  if (!request.node_command.empty())
    return restart_nodes(request, *set, stop, progress, std::move(report));
  if (set->machines.size() != 1) {
    report.end = {kCodeRefused,
                  request.directory +
                      ": this is a set of several nodes, or machines: give "
                      "--node-command 'ssh {node}', say, for nodes, and see btlctl vm restore"};
    return report;
  }
  RestartMachine machine(set->machines.front().name);
  RestartSteps steps(request, *set, kProcessSet, stop, progress);
  const auto describe = [&](Action action) { return text_of_restart(action, request, set->hold); };
  if (request.dry_run) {
    plan(machine, steps, describe, report);
  } else {
    drive(machine, steps, stop, progress, report);
  }
  return report;
}

Status continue_clock(std::int64_t monotonic_s) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (::unshare(kNewClock) != 0)
    return fail(Errc::kSystem, std::string("no time namespace for the processes: ") +
                                   std::strerror(errno) + "; it needs root and Linux 5.6");
  const std::string by = std::to_string(monotonic_s - now.tv_sec) + " 0\n";
  std::ofstream offsets("/proc/self/timens_offsets");
  offsets << "monotonic " << by << "boottime " << by << std::flush;
  if (!offsets) return fail(Errc::kSystem, "/proc/self/timens_offsets takes no offset of " + by);
  return {};
}

}  // namespace livebtl::hypervisor
