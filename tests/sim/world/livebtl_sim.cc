// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/livebtl_sim.cc -- runs simulated jobs by seed: livebtl-sim [--seeds N] [--first S]
// [--part I/N] [--all-faults] [--calm] [--slowest-ms N] [--keep-going] [--trace] [--twice]
//
// Without --seeds, LIVEBTL_SIM_SEEDS in the environment says how many. Exit code 0: every run held;
// 1: one did not (its seed is printed with the command that replays it, and with --trace its log),
// or with --all-faults some kind of fault was never injected; 2: usage.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/log.h"
#include "tests/sim/world/world.h"

using namespace livebtl;
using namespace livebtl::sim;

namespace {

struct Options {
  std::uint64_t seeds = LIVEBTL_SIM_SEEDS_DEFAULT;
  std::uint64_t first = 1;
  std::uint64_t part = 1;  // which of the `parts` equal parts of the seeds is run
  std::uint64_t parts = 1;
  bool all_faults = false;
  bool keep_going = false;
  bool calm = false;
  std::int64_t slowest_ms = 0;  // 0: no limit
  bool trace = false;
  bool twice = false;
};

struct Totals {
  FaultCounts faults;
  std::map<std::string, std::uint64_t> outcomes;
  std::uint64_t messages = 0, boxed = 0, steps = 0, retransmitted = 0, duplicates = 0,
                reordered = 0;
  std::uint64_t holds = 0, holds_parked = 0, holds_expired = 0, restores = 0;

  void add(const WorldResult& result) {
    faults.add(result.faults);
    for (const auto& [name, times] : result.outcomes) outcomes[name] += times;
    messages += result.messages;
    boxed += result.boxed;
    steps += result.steps;
    retransmitted += result.retransmitted;
    duplicates += result.duplicates;
    reordered += result.reordered;
    holds += result.holds;
    holds_parked += result.holds_parked;
    holds_expired += result.holds_expired;
    restores += result.restores;
  }
  void print() const {
    std::printf("faults: %s\n", faults.to_text().c_str());
    std::printf("outcomes (verb: exit code):");
    for (const auto& [name, times] : outcomes)
      std::printf(" [%s] %llu", name.c_str(), static_cast<unsigned long long>(times));
    std::printf(
        "\nmessages=%llu by fast boxes=%llu steps=%llu frames sent again=%llu repeated=%llu "
        "early=%llu\n",
        static_cast<unsigned long long>(messages), static_cast<unsigned long long>(boxed),
        static_cast<unsigned long long>(steps), static_cast<unsigned long long>(retransmitted),
        static_cast<unsigned long long>(duplicates), static_cast<unsigned long long>(reordered));
    std::printf(
        "holds=%llu with all parked=%llu leases run out=%llu restored=%llu\n",
        static_cast<unsigned long long>(holds), static_cast<unsigned long long>(holds_parked),
        static_cast<unsigned long long>(holds_expired), static_cast<unsigned long long>(restores));
  }
};

WorldResult run_seed(std::uint64_t seed, const Options& options) {
  return World(seed, options.calm ? FaultPlan::calm() : FaultPlan::from_seed(seed)).run();
}

bool all_injected(const FaultCounts& faults) {
  bool all = true;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    if (faults.of(static_cast<Fault>(i)) != 0) continue;
    std::printf("fault %s was never injected\n", fault_name(static_cast<Fault>(i)));
    all = false;
  }
  return all;
}

// true: the seed holds.
bool run_one(std::uint64_t seed, const Options& options, Totals& totals) {
  const WorldResult result = run_seed(seed, options);
  totals.add(result);
  std::string failure = result.failure;
  if (failure.empty() && options.twice && run_seed(seed, options).fingerprint != result.fingerprint)
    failure = "it does not replay";
  if (failure.empty() && options.slowest_ms != 0 &&
      result.slowest > options.slowest_ms * kMillisecond)
    failure =
        result.slowest_command + " took " + std::to_string(result.slowest / kMillisecond) + " ms";
  if (failure.empty()) return true;
  std::printf("seed %llu FAILED at %.6f s: %s\n", static_cast<unsigned long long>(seed),
              static_cast<double>(result.virtual_time) / 1e9, failure.c_str());
  std::printf("replay: livebtl-sim --first %llu --seeds 1 --trace\n",
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return false;
}

int run(const Options& options) {
  const std::uint64_t begin = options.first + options.seeds * (options.part - 1) / options.parts;
  const std::uint64_t end = options.first + options.seeds * options.part / options.parts;
  Totals totals;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    if ((seed - begin) % 1000 == 999)
      std::fprintf(stderr, "livebtl-sim: %llu of %llu seeds, %llu failed\n",
                   static_cast<unsigned long long>(seed - begin + 1),
                   static_cast<unsigned long long>(end - begin),
                   static_cast<unsigned long long>(failed));
    if (run_one(seed, options, totals)) continue;
    ++failed;
    if (!options.keep_going) break;
  }
  std::printf("seeds %llu to %llu: %s\n", static_cast<unsigned long long>(begin),
              static_cast<unsigned long long>(end - 1),
              failed == 0 ? "all held" : (std::to_string(failed) + " FAILED").c_str());
  totals.print();
  if (failed != 0) return 1;
  return options.all_faults && !all_injected(totals.faults) ? 1 : 0;
}

/// "2/4": the second of four parts.
bool read_part(const std::string& text, Options& options) {
  unsigned long long part = 0, parts = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%llu/%llu%c", &part, &parts, &rest) != 2) return false;
  options.part = part;
  options.parts = parts;
  return part >= 1 && part <= parts;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs simulated jobs by seed and prints the first seed that fails.", "livebtl-sim");
  std::string part = "1/1";
  app.add_option("--seeds", options.seeds, "how many")->envname("LIVEBTL_SIM_SEEDS");
  app.add_option("--first", options.first, "the first");
  app.add_option("--part", part, "run only the I-th of N equal parts of them, as I/N");
  app.add_flag("--calm", options.calm, "inject no faults");
  app.add_option("--slowest-ms", options.slowest_ms,
                 "fail if a command that is carried out takes longer, in virtual time");
  app.add_flag("--keep-going", options.keep_going, "do not stop at the first that fails");
  app.add_flag("--all-faults", options.all_faults, "fail if a kind of fault was never injected");
  app.add_flag("--trace", options.trace, "print what the engines log");
  app.add_flag("--twice", options.twice, "run each seed twice and fail if the runs differ");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!read_part(part, options)) {
    std::fprintf(stderr, "livebtl-sim: --part takes I/N with 1 <= I <= N, not %s\n", part.c_str());
    return 2;
  }
  set_log_level(options.trace ? LogLevel::kDebug : LogLevel::kError);
  return run(options);
}
