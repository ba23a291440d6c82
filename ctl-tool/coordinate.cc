// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/coordinate.cc -- see coordinate.h.
#include "ctl-tool/coordinate.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/fd.h"
#include "control/client/drive.h"
#include "ctl-tool/child_end.h"
#include "ctl-tool/options.h"
#include "ctl-tool/orders.h"
#include "ctl-tool/progress_line.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::Outcome;
using control::Progress;

constexpr TimeNs kJobAppears = 2 * kSecond;  // it may have been started just now
constexpr int kStopLooked = 50;              // ms
constexpr TimeNs kTakeBack = 10 * kSecond;   // what an interrupted command has begun

std::string text_of(const Progress& progress) {
  return std::string(progress.undoing ? "back to " : "") + control::rung_name(progress.rung) + " " +
         std::to_string(progress.acknowledged) + "/" + std::to_string(progress.members);
}

ExitCode fail_interrupted(const CommandLine& line, bool begun) {
  const char* const text = begun ? "interrupted; what was begun is taken back if it was not "
                                   "committed; how it ended: btlctl history"
                                 : "interrupted; nothing was changed";
  return end_early(line, {ExitCode::kInterrupted, text});
}

/// A user who interrupts a command does not want it any more (docs/adr/0076).
ExitCode take_back(const CommandLine& line, control::JobLinks& links, ProgressLine& progress) {
  const std::string left =
      "; btlctl resume or btlctl abort ends it, else the job finishes it by "
      "itself after some seconds";
  if (line.command == "resume" || line.command == "abort")
    return end_early(line, {ExitCode::kInterrupted, "interrupted; it is left as it is" + left});
  control::Command back = command_of(line, links.job());
  back.verb = "abort";
  back.arguments.clear();
  back.scope.clear();
  back.by += ", interrupted";
  back.times = control::times_within(kTakeBack);
  const std::atomic<bool> never{false};
  const auto outcome = control::drive(
      links, back, [&](const Progress& now) { progress.show(text_of(now), false); }, never);
  progress.clear();
  std::string text = "interrupted; taken back: the job is as before";
  if (outcome->already)
    text = "interrupted, but it was over by then; how it ended: btlctl history";
  else if (outcome->code == ExitCode::kNotReleased)
    text = "interrupted after its commit point: the job finishes it by itself after some seconds";
  else if (outcome->code != ExitCode::kDone)
    text = "interrupted; not taken back (" + outcome->text + ")" + left;
  return end_early(line, {ExitCode::kInterrupted, text});
}

CommandLine hold_start(CommandLine line) {
  line.command = "hold";
  line.arguments = {"start"};
  return line;
}

/// The plan of `prepare --hold` is both plans, with the hold's exit code and stragglers. False:
/// interrupted.
bool add_hold(Outcome& plan, const CommandLine& line, control::JobLinks& links,
              const std::atomic<bool>& stop) {
  const auto hold = control::drive(links, hold_of(hold_start(line), links.job()), {}, stop);
  if (!hold) return false;
  plan.code = hold->code;
  plan.text += "; then " + hold->text;
  plan.stragglers = hold->stragglers;
  plan.stragglers_total = hold->stragglers_total;
  plan.missing_ranks = hold->missing_ranks;
  return true;
}

tl::expected<control::JobLinks, NoJob> open_job_soon(const CommandLine& line,
                                                     const std::atomic<bool>& stop) {
  return open_job(line, std::min(line.timeout_for_change(), kJobAppears), stop);
}

/// on_begun: called once, when the first order is out.
ExitCode coordinate(const CommandLine& line, const std::atomic<bool>& stop,
                    const std::function<void()>& on_begun) {
  auto links = open_job_soon(line, stop);
  if (!links) return end_early(line, links.error());
  bool begun = false;
  ProgressLine progress(line);
  auto outcome = control::drive(
      *links, command_of(line, links->job()),
      [&](const Progress& now) {
        progress.show(text_of(now), now.acknowledged == 0 || now.acknowledged == now.members);
        if (!std::exchange(begun, true)) on_begun();
      },
      stop);
  progress.clear();
  if (!outcome && begun) return take_back(line, *links, progress);
  if (!outcome) return fail_interrupted(line, begun);
  // Even with --hold there is only one document: the hold's, if that is reached.
  const bool then_hold = line.hold && outcome->code == ExitCode::kDone;
  if (then_hold && line.dry_run && !add_hold(*outcome, line, *links, stop))
    return fail_interrupted(line, begun);
  if (!then_hold || line.dry_run) report(line, *outcome);
  return outcome->code;
}

void redirect_to_null() {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null.number(), stream);
  }
}

/// Has the child begun? Polls, since a signal just before a blocking read() would not end it.
bool hears_of_begin(const Fd& reader, const std::atomic<bool>& stop) {
  pollfd wait{reader.number(), POLLIN, 0};
  while (!stop.load()) {
    char begun = 0;
    if (::poll(&wait, 1, kStopLooked) > 0) return ::read(wait.fd, &begun, 1) == 1;
  }
  return false;
}

/// Ctrl-C reaches only this process. Until the child has begun it can still print its own messages.
ExitCode stop_child(const CommandLine& line, pid_t child, const Fd& reader) {
  ::kill(child, SIGTERM);
  const auto ended = end_of_child(child);
  char told = 0;
  const bool begun = ::read(reader.number(), &told, 1) == 1;
  if (!begun && ended) return *ended;
  const ExitCode code = ended.value_or(ExitCode::kInterrupted);
  if (code == ExitCode::kInterrupted) return fail_interrupted(line, begun);
  return end_early(line, {code, line.command + " was over when it was interrupted; see: btlctl "
                                               "history"});
}

/// Here done means begun: the order may still be refused or taken back.
ExitCode report_begun(const CommandLine& line) {
  Outcome begun;
  begun.verb = line.command;
  begun.arguments = line.arguments;
  if (!line.scope.empty()) begun.scope = line.scope;
  begun.background = true;
  begun.text = line.command + " goes on in the background; how it ends: btlctl history";
  print((line.json ? control::outcome_json(begun) : printable(begun.text)) + "\n");
  return ExitCode::kDone;
}

/// --no-wait: a child goes on alone once the first order is out; if it ends before that, the end is
/// reported as without --no-wait.
ExitCode coordinate_in_background(const CommandLine& line, const std::atomic<bool>& stop) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return end_early(line, {ExitCode::kNotPermitted, "no descriptor for a pipe; raise ulimit -n"});
  }
  Fd reader(ends[0]), writer(ends[1]);
  ::signal(SIGCHLD, SIG_DFL);  // if our caller ignored it, the child's exit code would be lost
  const pid_t child = ::fork();
  if (child < 0) {
    return end_early(line, {ExitCode::kNotPermitted, "cannot start a process; use --wait"});
  }
  if (child == 0) {
    ::setsid();
    const ExitCode code = coordinate(line, stop, [&writer] {
      const char begun = 'b';
      if (::write(writer.number(), &begun, 1) == 1) redirect_to_null();
    });
    std::fflush(stdout);
    ::_exit(static_cast<int>(code));
  }
  writer.reset();
  if (hears_of_begin(reader, stop)) return report_begun(line);
  if (stop.load()) return stop_child(line, child, reader);
  if (const auto ended = end_of_child(child)) return *ended;
  return end_early(line,
                   {ExitCode::kNotPermitted,
                    "the process that was to go on was killed before it had begun; nothing was "
                    "changed"});
}

}  // namespace

ExitCode run_ladder(const CommandLine& line, const std::atomic<bool>& stop) {
  if (line.no_wait && !line.dry_run) return coordinate_in_background(line, stop);
  const ExitCode code = coordinate(line, stop, [] {});
  if (!line.hold || line.dry_run || code != ExitCode::kDone) return code;
  const ExitCode held = run_hold(hold_start(line), stop);
  if (held != ExitCode::kDone)
    complain("what was set aside stays so: btlctl checkpoint return brings it back");
  return held;
}

ExitCode run_hold(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job_soon(line, stop);
  if (!links) return end_early(line, links.error());
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
    return outcome->code;
  }
  return end_early(
      line, {ExitCode::kInterrupted,
             line.command == "job" ? "interrupted; call it again before the leases end"
                                   : "interrupted; btlctl hold end ends what may be held, else its "
                                     "lease does"});
}

}  // namespace livebtl::tool
