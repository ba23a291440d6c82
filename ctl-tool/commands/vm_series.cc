// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/vm_series.cc -- see vm_series.h.
#include "ctl-tool/commands/vm_series.h"

#include <ctime>
#include <thread>

#include "ctl-tool/options.h"
#include "ctl-tool/say.h"
#include "hypervisor/set/set_series.h"
#include "hypervisor/snapshot/snapshot_vms.h"

namespace livebtl::tool {
namespace {

constexpr TimeNs kLookForStop = 100 * kMillisecond;

/// No set will ever be made: waiting does not change a command line.
bool is_hopeless(ExitCode code) {
  return code == ExitCode::kUsage || code == ExitCode::kNotPermitted;
}

bool is_made(ExitCode code) { return code == ExitCode::kDone || code == ExitCode::kNotReleased; }

ExitCode end_of_series(const CommandLine& line, const Error& error) {
  const ExitCode code = error.code == Errc::kAuth       ? ExitCode::kNotPermitted
                        : error.code == Errc::kNotFound ? ExitCode::kNotFound
                        : error.code == Errc::kRefused  ? ExitCode::kBusy
                                                        : ExitCode::kRetracted;
  return end_early(line, {code, error.text});
}

/// Makes one set; removes old ones only if it is whole and verified.
ExitCode make_one(const CommandLine& line, hypervisor::SetRequest request, bool by_libvirt,
                  hypervisor::SetSeries& series, const std::atomic<bool>& stop) {
  request.directory = series.next(std::time(nullptr));
  const auto call = [&](const hypervisor::Hypervisor& hypervisor,
                        const hypervisor::Progress& progress) {
    request.hypervisor = &hypervisor;
    return hypervisor::snapshot_vms(request, stop, progress);
  };
  const ExitCode code = run_vm(line, "vm snapshot", by_libvirt, call);
  if (request.dry_run || !is_made(code)) return code;
  if (!line.json) print(printable(request.directory) + " is whole, and verified\n");
  for (const std::string& said : series.prune(request.directory, line.vm.keep, request.names()))
    complain(printable(said));
  return code;
}

/// false: interrupted.
bool wait_until_time(TimeNs until, const std::atomic<bool>& stop) {
  while (!stop.load() && monotonic_now() < until)
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::min(kLookForStop, until - monotonic_now())));
  return !stop.load();
}

}  // namespace

void define_series(CLI::App& app, CommandLine& line) {
  add_value(app, "--every", line.vm.every, "TIME",
            "Make sets at this interval, such as 90s, 30m, 6h or 1d, until interrupted; DIR holds "
            "the sets")
      ->check(checked([](const std::string& text) {
        return hypervisor::read_interval(text)
                   ? ""
                   : "it takes a time of a minute to 366 days, as 90s, 30m, 6h, 1d";
      }));
  add_value(app, "--keep", line.vm.keep, "N",
            "Make a set in DIR, named by the time; once it is verified, keep the N newest whole "
            "sets (1 to 10000)")
      ->check(CLI::Range(std::size_t{1}, hypervisor::kKeptSetsMax).description(""));
}

std::string problem_of_series(const CommandLine& line) {
  if (!line.vm.every.empty() && line.vm.keep == 0)
    return "--every needs --keep: how many sets are to be kept?";
  return "";
}

ExitCode run_series(const CommandLine& line, const hypervisor::SetRequest& request, bool by_libvirt,
                    const std::atomic<bool>& stop) {
  auto series = request.dry_run ? hypervisor::SetSeries::look(request.directory)
                                : hypervisor::SetSeries::open(request.directory);
  if (!series) return end_of_series(line, series.error());
  const double every_s = hypervisor::read_interval(line.vm.every).value_or(0);
  const auto every = static_cast<TimeNs>(every_s * 1e9);
  for (TimeNs due = monotonic_now();;) {
    const ExitCode code = make_one(line, request, by_libvirt, *series, stop);
    if (every == 0 || request.dry_run || stop.load() || is_hopeless(code)) return code;
    due += every;
    while (due <= monotonic_now()) due += every;  // if a set took longer: the next turn
    if (!wait_until_time(due, stop)) return code;
  }
}

}  // namespace livebtl::tool
