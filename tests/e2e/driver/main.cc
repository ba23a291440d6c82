// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/main.cc -- livebtl-switch-driver: orders the next switch as soon as the last one
// counts.
//
// Every tenth goes through btlctl, the others straight over the control protocol. Prints a JSON
// line a switch and, last, a summary with percentiles. Exit code 0 only if all switches succeeded
// and counted.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/e2e/driver/job_view.h"
#include "tests/e2e/driver/starved.h"

extern char** environ;

namespace {

using namespace livebtl;

std::atomic<bool> stop_requested{false};

// Only ends what has failed: a busy machine is several times slower than one of its own.
constexpr TimeNs kPatience = 120 * kSecond;

struct Options {
  std::string job;
  unsigned count = 100;
  std::vector<std::string> transports{"sm", "tcp"};
  std::string btlctl;
  double timeout_s = 300;
  unsigned rest_ms = 0;

  TimeNs timeout() const { return static_cast<TimeNs>(timeout_s * 1e9); }
};

/// One switch: when it was ordered, how long it took, and who ordered it.
struct Done {
  TimeNs begin = 0;
  double milliseconds = 0;
  double starved_ms = 0;  // of that, our own wait for a processor
  bool by_btlctl = false;
};

int run_btlctl(const Options& options, const std::string& job, const std::string& from,
               const std::string& to) {
  const std::string seconds = std::to_string(kPatience / kSecond);
  std::vector<std::string> words{options.btlctl, "--quiet", "--timeout", seconds, "--job", job,
                                 "switch",       from,      to};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY,
                                   0);  // stdout is for our own lines
  pid_t child = 0;
  const int error =
      posix_spawn(&child, options.btlctl.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Milliseconds; Errors: the switch did not succeed.
Result<double> switch_once(const Options& options, control::JobLinks& links, bool by_btlctl,
                           const std::string& from, const std::string& to) {
  const TimeNs start = monotonic_now();
  if (by_btlctl) {
    const int code = run_btlctl(options, links.job(), from, to);
    if (code != 0) return fail(Errc::kRefused, "btlctl ended with " + std::to_string(code));
  } else {
    const auto outcome = e2e::order_switch(links, from, to, kPatience, stop_requested);
    if (!outcome) return fail(Errc::kCancelled, "stopped by a signal");
    if (outcome->code != control::ExitCode::kDone) return fail(Errc::kRefused, outcome->text);
    if (outcome->already) return fail(Errc::kRefused, "nothing was switched: " + outcome->text);
  }
  return static_cast<double>(monotonic_now() - start) / 1e6;
}

/// Waits until the switch counts. Errors: kTimeout, with the number of pairs outstanding;
/// kRefused: pairs that the switch should have moved go on as before.
Status wait_until_it_counts(control::JobLinks& links, const e2e::SwitchAccount& account,
                            TimeNs deadline) {
  for (;;) {
    const auto now = e2e::ask_counts(links, kPatience);
    if (!now) return tl::unexpected(now.error());
    if (const auto stayed = account.stayed(*now); !stayed.empty()) {
      return fail(Errc::kRefused, std::to_string(stayed.size()) + " of " +
                                      std::to_string(account.active_pairs()) +
                                      " active pairs went on over " + account.from() +
                                      " after they had been switched");
    }
    const auto outstanding = account.outstanding(*now);
    if (outstanding.empty()) return {};
    if (monotonic_now() >= deadline || stop_requested) {
      return fail(Errc::kTimeout, std::to_string(outstanding.size()) + " of " +
                                      std::to_string(account.active_pairs()) +
                                      " active pairs sent nothing over the new transport");
    }
  }
}

/// Waits until some pair has sent on `from`, so that there is something to switch.
Result<e2e::Counts> wait_for_traffic(control::JobLinks& links, e2e::SwitchAccount& account,
                                     const std::string& from, TimeNs deadline) {
  for (;;) {
    auto counts = e2e::ask_counts(links, kPatience);
    if (!counts) return counts;
    account.before_switch(*counts, from);
    if (account.active_pairs() > 0) return counts;
    if (monotonic_now() >= deadline || stop_requested)
      return fail(Errc::kTimeout, "no pair sends over " + from);
  }
}

void print_switch(unsigned number, const std::string& to, const Done& done, std::size_t pairs) {
  std::printf(
      "{\"switch\": %u, \"to\": \"%s\", \"begin_ns\": %lld, \"ms\": %.2f, \"starved_ms\": %.2f, "
      "\"btlctl\": %s, \"pairs\": %zu}\n",
      number, to.c_str(), static_cast<long long>(done.begin), done.milliseconds, done.starved_ms,
      done.by_btlctl ? "true" : "false", pairs);
  std::fflush(stdout);
}

Status drive(const Options& options, control::JobLinks& links, std::vector<Done>& done) {
  e2e::SwitchAccount account;
  const TimeNs deadline = monotonic_now() + options.timeout();
  for (unsigned number = 1; number <= options.count; ++number) {
    const std::string& from = options.transports[(number - 1) % 2];
    const std::string& to = options.transports[number % 2];
    const bool by_btlctl = number % 10 == 0 && !options.btlctl.empty();
    if (auto traffic = wait_for_traffic(links, account, from, deadline); !traffic) {
      return tl::unexpected(traffic.error());
    }
    const e2e::RunDelays delays = e2e::run_delays();
    const TimeNs begin = monotonic_now();
    const auto milliseconds = switch_once(options, links, by_btlctl, from, to);
    if (!milliseconds) return tl::unexpected(milliseconds.error());
    const double starved_ms =
        static_cast<double>(e2e::longest_wait(delays, e2e::run_delays())) / 1e6;
    const auto after = e2e::ask_counts(links, kPatience);
    if (!after) return tl::unexpected(after.error());
    account.after_switch(*after, to);
    if (auto counted = wait_until_it_counts(links, account, deadline); !counted) return counted;
    done.push_back({begin, *milliseconds, starved_ms, by_btlctl});
    print_switch(number, to, done.back(), account.active_pairs());
    if (options.rest_ms > 0) ::poll(nullptr, 0, static_cast<int>(options.rest_ms));
  }
  return {};
}

/// Percentiles of what the protocol alone took; btlctl's own start would blur them.
void print_summary(const std::vector<Done>& done) {
  std::vector<double> direct{};
  Done slowest;
  for (const Done& one : done) {
    if (one.by_btlctl) continue;
    direct.push_back(one.milliseconds);
    if (one.milliseconds > slowest.milliseconds) slowest = one;
  }
  if (direct.empty()) direct.push_back(0);
  std::printf(
      "{\"switches\": %zu, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.2f, "
      "\"max_starved_ms\": %.2f}\n",
      done.size(), e2e::percentile(direct, 50), e2e::percentile(direct, 99), slowest.milliseconds,
      slowest.starved_ms);
}

int run(const Options& options) {
  auto job = e2e::find_job(options.job);
  if (!job) {
    std::fprintf(stderr, "livebtl-switch-driver: %s\n", job.error().text.c_str());
    return 2;
  }
  auto links = control::JobLinks::open(*job);
  if (!links) {
    std::fprintf(stderr, "livebtl-switch-driver: %s\n", links.error().text.c_str());
    return 2;
  }
  std::vector<Done> done;
  const Status status = drive(options, *links, done);
  if (!status)
    std::fprintf(stderr, "switch %zu: %s\n", done.size() + 1, status.error().text.c_str());
  print_summary(done);
  return status ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Switches a job's transport back and forth, as fast as each switch counts."};
  app.add_option("--job", options.job, "job (default: the only one)");
  app.add_option("--count", options.count, "switches");
  app.add_option("--transports", options.transports,
                 "the two, e.g. sm,tcp; traffic is on the first")
      ->delimiter(',')
      ->expected(2);
  app.add_option("--btlctl", options.btlctl, "btlctl's path: every tenth switch goes through it");
  app.add_option("--rest-ms", options.rest_ms, "leave the job alone so long after each switch")
      ->check(CLI::Range(0u, 60'000u));
  app.add_option("--timeout-s", options.timeout_s, "for the whole")->check(CLI::Range(1.0, 1e6));
  CLI11_PARSE(app, argc, argv);
  for (const int number : {SIGINT, SIGTERM}) {
    ::signal(number, [](int) { stop_requested = true; });
  }
  return run(options);
}
