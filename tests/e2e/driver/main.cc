// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/main.cc -- livebtl-switch-driver: orders the next switch as soon as the last one
// counts.
//
// Every tenth goes through btlctl, the others directly over the control protocol. Prints a line of
// JSON per switch and, last, a summary with percentiles. Exit code 0 only if all switches succeeded
// and counted.
#include <poll.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/e2e/driver/job_view.h"
#include "tests/e2e/driver/ordering.h"

namespace {

using namespace livebtl;
using e2e::Done;
using e2e::kOrderTimeoutNs;

std::atomic<bool> stop_requested{false};

struct Options {
  std::string job;
  unsigned count = 100;
  std::vector<std::string> transports{"sm", "tcp"};
  std::string btlctl;
  double timeout_s = 300;
  unsigned rest_ms = 0;
  bool connections_are_cut = false;

  TimeNs timeout() const { return static_cast<TimeNs>(timeout_s * 1e9); }
};

/// Waits until the switch counts. Errors: kTimeout, with the number of pairs outstanding; kRefused:
/// pairs that the switch should have moved send as before.
Status wait_until_it_counts(control::JobLinks& links, const e2e::SwitchAccount& account,
                            std::uint32_t epoch, TimeNs deadline) {
  for (;;) {
    const auto view = e2e::ask_counts(links, kOrderTimeoutNs, epoch);
    if (!view) return tl::unexpected(view.error());
    if (const auto stayed = account.stayed(view->counts); !stayed.empty()) {
      return fail(Errc::kRefused, std::to_string(stayed.size()) + " of " +
                                      std::to_string(account.active_pairs()) +
                                      " active pairs went on over " + account.from() +
                                      " after they had been switched");
    }
    const auto outstanding = account.outstanding(view->counts);
    if (outstanding.empty()) return {};
    if (monotonic_now() >= deadline || stop_requested) {
      return fail(Errc::kTimeout, std::to_string(outstanding.size()) + " of " +
                                      std::to_string(account.active_pairs()) +
                                      " active pairs sent nothing over the new transport");
    }
  }
}

/// Waits until some pair has sent on `from`, so that there is something to switch. Returns the
/// epoch.
Result<std::uint32_t> wait_for_traffic(control::JobLinks& links, e2e::SwitchAccount& account,
                                       const std::string& from, TimeNs deadline) {
  for (;;) {
    const auto view = e2e::ask_counts(links, kOrderTimeoutNs);
    if (!view) return tl::unexpected(view.error());
    account.before_switch(view->counts, from);
    if (account.active_pairs() > 0) return view->epoch;
    if (monotonic_now() >= deadline || stop_requested)
      return fail(Errc::kTimeout, "no pair sends over " + from);
  }
}

void print_switch(unsigned number, const std::string& to, const Done& done, std::size_t pairs) {
  std::printf(
      "{\"switch\": %u, \"to\": \"%s\", \"begin_ns\": %lld, \"ms\": %.2f, \"starved_ms\": %.2f, "
      "\"btlctl\": %s, \"lost\": %s, \"pairs\": %zu}\n",
      number, to.c_str(), static_cast<long long>(done.begin), done.milliseconds, done.starved_ms,
      done.by_btlctl ? "true" : "false", done.lost ? "true" : "false", pairs);
  std::fflush(stdout);
}

Status drive(const Options& options, control::JobLinks& links, std::vector<Done>& done) {
  // A path that is dialled again takes two frames from each end; several may be, in succession.
  constexpr std::uint64_t kRedialFrames = 8;
  e2e::SwitchAccount account(options.connections_are_cut ? kRedialFrames : 0);
  const e2e::Orders orders{links, options.btlctl, stop_requested};
  const TimeNs deadline = monotonic_now() + options.timeout();
  for (unsigned number = 1; number <= options.count; ++number) {
    const std::string& from = options.transports[(number - 1) % options.transports.size()];
    const std::string& to = options.transports[number % options.transports.size()];
    const bool by_btlctl = number % 10 == 0 && !options.btlctl.empty();
    const auto epoch_before = wait_for_traffic(links, account, from, deadline);
    if (!epoch_before) return tl::unexpected(epoch_before.error());
    const auto switched = e2e::switch_once(orders, by_btlctl, from, to);
    if (!switched) return tl::unexpected(switched.error());
    const auto after = e2e::ask_counts(links, kOrderTimeoutNs, *epoch_before + 1);
    if (!after) return tl::unexpected(after.error());
    account.after_switch(after->counts, to);
    if (auto counted = wait_until_it_counts(links, account, after->epoch, deadline); !counted)
      return counted;
    done.push_back(*switched);
    print_switch(number, to, done.back(), account.active_pairs());
    if (options.rest_ms > 0) ::poll(nullptr, 0, static_cast<int>(options.rest_ms));
  }
  return {};
}

/// Percentiles of the protocol's times alone; btlctl's own start would blur them.
void print_summary(const std::vector<Done>& done) {
  std::vector<double> direct{};
  Done slowest;
  std::size_t lost = 0;
  for (const Done& one : done) {
    lost += one.lost ? 1 : 0;
    if (one.by_btlctl) continue;
    direct.push_back(one.milliseconds);
    if (one.milliseconds > slowest.milliseconds) slowest = one;
  }
  if (direct.empty()) direct.push_back(0);
  std::printf(
      "{\"switches\": %zu, \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.2f, "
      "\"max_starved_ms\": %.2f, \"lost\": %zu}\n",
      done.size(), e2e::percentile(direct, 50), e2e::percentile(direct, 99), slowest.milliseconds,
      slowest.starved_ms, lost);
}

int run(const Options& options) {
  auto job = e2e::find_job(options.job);
  if (!job) {
    std::fprintf(stderr, "livebtl-switch-driver: %s\n", job.error().text.c_str());
    return 2;
  }
  auto links = control::JobLinks::open(*job);
  std::vector<Done> done;
  const Status status = drive(options, links, done);
  if (!status)
    std::fprintf(stderr, "switch %zu: %s\n", done.size() + 1, status.error().text.c_str());
  print_summary(done);
  return status ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Switches a job from transport to transport, as fast as each switch counts."};
  app.add_option("--job", options.job, "job (default: the only one)");
  app.add_option("--count", options.count, "switches");
  app.add_option("--transports", options.transports,
                 "two or more, e.g. sm,tcp, gone round; traffic is on the first")
      ->delimiter(',')
      ->expected(2, 8);
  app.add_option("--btlctl", options.btlctl, "btlctl's path: every tenth switch goes through it");
  app.add_option("--rest-ms", options.rest_ms, "leave the job alone so long after each switch")
      ->check(CLI::Range(0u, 60'000u));
  app.add_flag("--connections-are-cut", options.connections_are_cut,
               "handshakes on the transport left are no fault");
  app.add_option("--timeout-s", options.timeout_s, "for the whole")->check(CLI::Range(1.0, 1e6));
  CLI11_PARSE(app, argc, argv);
  for (const int number : {SIGINT, SIGTERM}) {
    ::signal(number, [](int) { stop_requested = true; });
  }
  return run(options);
}
