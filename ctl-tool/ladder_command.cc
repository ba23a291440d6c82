// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/ladder_command.cc -- the commands that change something: this process is the coordinator
// while they run.
//
// Killed at any point it leaves nothing that `btlctl resume` or `btlctl abort` cannot end.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/fd.h"
#include "base/secret.h"
#include "control/drive.h"
#include "ctl-tool/commands.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::ExitCode;
using control::Outcome;
using control::Progress;

constexpr TimeNs kJobAppears = 2 * kSecond;  // a job that has been started just now

/// One line that is redrawn on a terminal; elsewhere, and only if it is asked for, a line when a
/// rung is ordered and one when all are on it.
class ProgressLine {
 public:
  explicit ProgressLine(const CommandLine& line)
      : terminal_(::isatty(STDERR_FILENO) == 1),
        quiet_(line.quiet || (!terminal_ && !line.progress)) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress) {
    if (quiet_) return;
    const std::string text =
        std::string(progress.undoing ? "back to " : "") + control::rung_name(progress.rung) + " " +
        std::to_string(progress.acknowledged) + "/" + std::to_string(progress.members);
    if (terminal_) {
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
      drawn_ = true;
    } else if (progress.acknowledged == 0 || progress.acknowledged == progress.members) {
      std::fprintf(stderr, "%s\n", text.c_str());
    }
    std::fflush(stderr);
  }
  void clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
  }

 private:
  bool terminal_;
  bool quiet_;
  bool drawn_ = false;
};

control::Command command_of(const CommandLine& line, const std::string& job) {
  control::Command command;
  command.job = job;
  command.verb = line.verb;
  command.arguments = line.arguments;
  command.dry_run = line.dry_run;
  command.coordinator = random_u64() | 1;
  command.operation = random_u64() | 1;
  command.times = control::times_within(line.timeout_for_change());
  return command;
}

std::string facts_of(const Outcome& outcome) {
  double milliseconds = 0.0;
  for (const auto& rung : outcome.rungs) milliseconds += rung.milliseconds;
  std::string text = counted(outcome.members, "process", "processes");
  if (outcome.pairs_moved > 0)
    text += ", " + counted(outcome.pairs_moved, "pair", "pairs") + " moved";
  if (outcome.pairs_left > 0) text += ", " + counted(outcome.pairs_left, "pair", "pairs") + " left";
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), ", %.1f ms", milliseconds);
  return text + (outcome.rungs.empty() ? "" : time.data());
}

void print_plans(const Outcome& outcome) {
  Table table({"PROCESS", "MOVES", "UNCHANGED>", "CUT OFF"});
  for (const auto& [name, plan] : outcome.plans) {
    std::vector<std::string> moves;
    for (const auto& [from, targets] : plan.moves) {
      for (const auto& [to, pairs] : targets) {
        moves.push_back(from + " -> " + to + ": " + std::to_string(pairs));
      }
    }
    table.add({printable(name), moves.empty() ? "-" : printable(join(moves, ", ")),
               std::to_string(plan.unchanged),
               plan.cut_off.empty() ? "-" : printable(join(plan.cut_off, ", "))});
  }
  print(table.text());
}

void complain_details(const Outcome& outcome) {
  for (const auto& pair : outcome.pairs) complain("  " + printable(pair));
  for (const auto& straggler : outcome.stragglers) {
    const std::string name = straggler.name.empty() ? "a process" : straggler.name;
    std::string text = "  " + printable(name);
    if (straggler.rung) text += std::string(" stands on ") + control::rung_name(*straggler.rung);
    if (!straggler.rung) {
      text += " is silent: it has answered nothing; is it stopped?";
    } else if (!straggler.answered) {
      text += ", and did not answer";
    } else if (!straggler.waiting.empty()) {
      text += ", waits for " + printable(join(straggler.waiting, ", "));
    }
    complain(text);
  }
  const auto listed = static_cast<std::uint32_t>(outcome.stragglers.size());
  if (outcome.stragglers_total > listed) {
    complain("  and " + std::to_string(outcome.stragglers_total - listed) + " more");
  }
  if (!outcome.missing_ranks.empty()) {
    std::vector<std::string> ranks;
    for (const int rank : outcome.missing_ranks) ranks.push_back(std::to_string(rank));
    complain("  missing ranks: " + join(ranks, ", "));
  }
  for (const auto& holder : outcome.foreign) complain("  held by " + printable(holder));
}

void report(const CommandLine& line, const Outcome& outcome) {
  if (line.json) print(control::outcome_json(outcome) + "\n");
  const bool done = outcome.code == ExitCode::kDone;
  if (done && !line.json) {
    if (!outcome.plans.empty()) print_plans(outcome);
    for (const auto& name : outcome.opens)
      print("opens " + printable(name) + " where it is closed\n");
    for (const auto& name : outcome.closes) print("closes " + printable(name) + "\n");
    print(printable(outcome.text) + " (" + facts_of(outcome) + ")\n");
    for (const auto& pair : outcome.pairs) print("  left: " + printable(pair) + "\n");
  } else if (!done) {
    complain(printable(outcome.text));
    complain_details(outcome);
  }
}

int say_interrupted(const CommandLine& line, bool begun) {
  const std::string text =
      begun ? "interrupted; the job runs on. End what was begun with: btlctl resume, or btlctl "
              "abort; else the job finishes it by itself after some seconds"
            : "interrupted; nothing was changed";
  complain(text);
  if (line.json) print(control::outcome_json(plain_outcome(line, kInterrupted, text)) + "\n");
  return kInterrupted;
}

/// on_begun: called once, when the first order is out.
int coordinate(const CommandLine& line, const std::atomic<bool>& stop,
               const std::function<void()>& on_begun) {
  auto links = open_job(line, std::min(line.timeout_for_change(), kJobAppears), stop);
  if (!links) return fail_early(line, links.error());
  bool begun = false;
  ProgressLine progress(line);
  const auto outcome = control::drive(
      *links, command_of(line, links->job()),
      [&](const Progress& now) {
        progress.show(now);
        if (!std::exchange(begun, true)) on_begun();
      },
      stop);
  progress.clear();
  if (!outcome) return say_interrupted(line, begun);
  report(line, *outcome);
  return static_cast<int>(outcome->code);
}

void redirect_to_null() {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null.number(), stream);
  }
}

/// --no-wait: a child goes on alone once the first order is out; what ends before that is reported
/// as ever.
int coordinate_in_background(const CommandLine& line, const std::atomic<bool>& stop) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail_early(line, {ExitCode::kNotPermitted, "no descriptor for a pipe; raise ulimit -n"});
  }
  Fd reader(ends[0]), writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail_early(line, {ExitCode::kNotPermitted, "cannot start a process; use --wait"});
  }
  if (child == 0) {
    ::setsid();
    const int code = coordinate(line, stop, [&writer] {
      const char begun = 'b';
      if (::write(writer.number(), &begun, 1) == 1) redirect_to_null();
    });
    std::fflush(stdout);
    ::_exit(code);
  }
  writer.reset();
  char begun = 0;
  if (::read(reader.number(), &begun, 1) == 1) {
    const std::string text = line.verb + " goes on in the background; see: btlctl status";
    print(line.json ? control::outcome_json(plain_outcome(line, 0, text)) + "\n" : text + "\n");
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kInterrupted;
}

}  // namespace

int run_ladder(const CommandLine& line, const std::atomic<bool>& stop) {
  if (!line.wait && !line.dry_run) return coordinate_in_background(line, stop);
  return coordinate(line, stop, [] {});
}

}  // namespace livebtl::tool
