// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/livebtl_sim.cc -- runs simulated jobs by seed: livebtl-sim [--seeds N] [--first S]
// [--all-faults] [--trace]
//
// Exit code 0: every run held; 1: one did not (its seed is printed, and with --trace its log), or
// with --all-faults some kind of fault was never injected; 2: usage.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/log.h"
#include "tests/sim/world.h"

using namespace livebtl;
using namespace livebtl::sim;

namespace {

struct Options {
  std::uint64_t seeds = 100;
  std::uint64_t first = 1;
  bool all_faults = false;
  bool trace = false;
  bool twice = false;
};

struct Totals {
  FaultCounts faults;
  std::map<std::string, std::uint64_t> outcomes;
  std::uint64_t messages = 0, steps = 0, retransmitted = 0, duplicates = 0, reordered = 0;

  void add(const WorldResult& result) {
    faults.add(result.faults);
    for (const auto& [name, times] : result.outcomes) outcomes[name] += times;
    messages += result.messages;
    steps += result.steps;
    retransmitted += result.retransmitted;
    duplicates += result.duplicates;
    reordered += result.reordered;
  }
  void print() const {
    std::printf("faults: %s\n", faults.to_text().c_str());
    std::printf("outcomes (verb: exit code):");
    for (const auto& [name, times] : outcomes)
      std::printf(" [%s] %llu", name.c_str(), static_cast<unsigned long long>(times));
    std::printf("\nmessages=%llu steps=%llu frames sent again=%llu repeated=%llu early=%llu\n",
                static_cast<unsigned long long>(messages), static_cast<unsigned long long>(steps),
                static_cast<unsigned long long>(retransmitted),
                static_cast<unsigned long long>(duplicates),
                static_cast<unsigned long long>(reordered));
  }
};

WorldResult run_seed(std::uint64_t seed) { return World(seed, FaultPlan::from_seed(seed)).run(); }

bool all_injected(const FaultCounts& faults) {
  bool all = true;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    if (faults.of(static_cast<Fault>(i)) != 0) continue;
    std::printf("fault %s was never injected\n", fault_name(static_cast<Fault>(i)));
    all = false;
  }
  return all;
}

int run(const Options& options) {
  Totals totals;
  for (std::uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
    const WorldResult result = run_seed(seed);
    totals.add(result);
    if (!result.failure.empty()) {
      std::printf("seed %llu FAILED at %.6f s: %s\n", static_cast<unsigned long long>(seed),
                  static_cast<double>(result.virtual_time) / 1e9, result.failure.c_str());
      totals.print();
      return 1;
    }
    if (options.twice && run_seed(seed).fingerprint != result.fingerprint) {
      std::printf("seed %llu does not replay\n", static_cast<unsigned long long>(seed));
      return 1;
    }
  }
  std::printf("%llu seeds from %llu: all held\n", static_cast<unsigned long long>(options.seeds),
              static_cast<unsigned long long>(options.first));
  totals.print();
  return options.all_faults && !all_injected(totals.faults) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs simulated jobs by seed and prints the first seed that fails.", "livebtl-sim");
  app.add_option("--seeds", options.seeds, "how many");
  app.add_option("--first", options.first, "the first");
  app.add_flag("--all-faults", options.all_faults, "fail if a kind of fault was never injected");
  app.add_flag("--trace", options.trace, "print what the engines log");
  app.add_flag("--twice", options.twice, "run each seed twice and fail if the runs differ");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  set_log_level(options.trace ? LogLevel::kDebug : LogLevel::kError);
  return run(options);
}
