// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/vm_series_test.cc -- vm snapshot --keep over played machines: old sets are
// removed once a new one is verified, and not before.
#include "ctl-tool/commands/vm_series.h"

#include <doctest/doctest.h>

#include "hypervisor/set/set_series.h"
#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

struct Series {
  MachinePair pair;
  tool::CommandLine line;

  explicit Series(std::size_t keep) {
    line.vm.keep = keep;
    line.quiet = true;
    pair.request.directory = pair.directory + "/sets";
  }
  ExitCode run() { return tool::run_series(line, pair.request, false, pair.stop); }
  std::vector<std::string> sets() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(pair.request.directory))
      if (std::filesystem::exists(each.path() / kSetFile)) names.push_back(each.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace

TEST_CASE("so many sets are kept, the newest of them") {
  Series series(2);
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(series.run() == ExitCode::kDone);
    all.push_back(series.sets().back());
  }
  CHECK(series.sets() == std::vector<std::string>{all[2], all[3]});
  series.pair.is_as_before();
}

TEST_CASE("a snapshot that fails costs no set that is there") {
  Series series(1);
  REQUIRE(series.run() == ExitCode::kDone);
  const auto before = series.sets();
  series.pair.both([](auto& state) { state.status = "paused"; });
  CHECK(series.run() == ExitCode::kRefused);
  CHECK(series.sets() == before);
}

TEST_CASE("a dry run makes nothing and removes nothing; an interrupt ends a series after the set") {
  Series series(1);
  REQUIRE(series.run() == ExitCode::kDone);
  const auto before = series.sets();
  series.line.dry_run = series.pair.request.dry_run = true;
  series.line.vm.every = "60s";
  CHECK(series.run() == ExitCode::kDone);
  CHECK(series.sets() == before);
  series.line.dry_run = series.pair.request.dry_run = false;
  series.pair.stop = true;
  CHECK(series.run() == ExitCode::kInterrupted);
  CHECK(series.sets() == before);
}

TEST_CASE("a dry run makes no directory, and says whether it can be made") {
  Series series(1);
  series.line.dry_run = series.pair.request.dry_run = true;
  CHECK(series.run() == ExitCode::kDone);
  CHECK_FALSE(std::filesystem::exists(series.pair.request.directory));
  series.pair.request.directory += "/no/sets";
  CHECK(series.run() == ExitCode::kNotFound);
}

TEST_CASE("a series that is being made is left alone") {
  Series series(1);
  REQUIRE(series.run() == ExitCode::kDone);
  const auto other = hypervisor::SetSeries::open(series.pair.request.directory);
  REQUIRE(other);
  CHECK(series.run() == ExitCode::kBusy);
}
