// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/ordering.cc -- see ordering.h.
#include "tests/e2e/driver/ordering.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tests/e2e/driver/job_view.h"
#include "tests/e2e/driver/starved.h"

extern char** environ;

namespace livebtl::e2e {
namespace {

// A coordinator that gets no processor for this long falls silent, and may lose its ladder to
// another one (the lease of 3 s in docs/SWITCH.md, less the time between two signs of life).
// Earlier than that, none may be lost.
constexpr TimeNs kLeaseMayEnd = 2500 * kMillisecond;

int run_btlctl(const Orders& orders, const std::string& from, const std::string& to) {
  const std::string seconds = std::to_string(kOrderTimeoutNs / kSecond);
  std::vector<std::string> words{orders.btlctl,      "--quiet", "--timeout", seconds, "--job",
                                 orders.links.job(), "switch",  from,        to};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY,
                                   0);  // stdout is for our own lines
  pid_t child = 0;
  const int error =
      posix_spawn(&child, orders.btlctl.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A coordinator that lost its ladder finishes it, unless another one has, and then repeats its
/// command.
Status finish_lost(const Orders& orders, const std::string& from, const std::string& to) {
  const TimeNs deadline = monotonic_now() + kOrderTimeoutNs;
  for (;;) {
    auto outcome = order(orders.links, "resume", {}, kOrderTimeoutNs, orders.stop);
    if (outcome && outcome->code == ExitCode::kDone)
      outcome = order(orders.links, "switch", {from, to}, kOrderTimeoutNs, orders.stop);
    if (!outcome) return fail(Errc::kCancelled, "stopped by a signal");
    if (outcome->code == ExitCode::kDone) return {};
    if (outcome->code != ExitCode::kBusy || monotonic_now() >= deadline)
      return fail(Errc::kRefused, "after losing its ladder: " + outcome->text);
    ::poll(nullptr, 0, 100);
  }
}

/// kDone or kBusy. Errors: any other outcome.
Result<ExitCode> order_once(const Orders& orders, bool by_btlctl, const std::string& from,
                            const std::string& to) {
  if (by_btlctl) {
    const int code = run_btlctl(orders, from, to);
    if (code == static_cast<int>(ExitCode::kBusy)) return ExitCode::kBusy;
    if (code != 0) return fail(Errc::kRefused, "btlctl ended with " + std::to_string(code));
    return ExitCode::kDone;
  }
  const auto outcome = order(orders.links, "switch", {from, to}, kOrderTimeoutNs, orders.stop);
  if (!outcome) return fail(Errc::kCancelled, "stopped by a signal");
  if (outcome->code != ExitCode::kDone && outcome->code != ExitCode::kBusy)
    return fail(Errc::kRefused, outcome->text);
  if (outcome->already) return fail(Errc::kRefused, "nothing was switched: " + outcome->text);
  return outcome->code;
}

}  // namespace

Result<Done> switch_once(const Orders& orders, bool by_btlctl, const std::string& from,
                         const std::string& to) {
  const RunDelays delays = run_delays();
  Done done{.begin = monotonic_now(), .by_btlctl = by_btlctl};
  const auto code = order_once(orders, by_btlctl, from, to);
  if (!code) return tl::unexpected(code.error());
  done.lost = *code == ExitCode::kBusy;
  if (done.lost) {
    if (monotonic_now() - done.begin < kLeaseMayEnd)
      return fail(Errc::kRefused, "busy, although nobody else commands this job");
    if (const Status finished = finish_lost(orders, from, to); !finished)
      return tl::unexpected(finished.error());
  }
  done.milliseconds = static_cast<double>(monotonic_now() - done.begin) / 1e6;
  done.starved_ms = static_cast<double>(longest_wait(delays, run_delays())) / 1e6;
  return done;
}

}  // namespace livebtl::e2e
