// SPDX-License-Identifier: BSD-3-Clause
// doctor/node_check.cc -- limits, memory, kernel, run directory.
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "doctor/sight.h"
#include "launch/rdma.h"

namespace livebtl::doctor {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kLockedBytesMin = 64 * kMiB;
constexpr std::uint64_t kShmBytesMin = 64 * kMiB;
constexpr std::uint64_t kDescriptorsMin = 1024;
/// Unix sockets' paths end at 108 bytes; names of a job and a process and a suffix follow this.
constexpr std::size_t kRunDirectoryBytesMax = 60;

std::string in_mib(std::uint64_t bytes) { return std::to_string(bytes / kMiB) + " MiB"; }

std::string word_in(const Sight& sight, const std::string& path) {
  return std::string(launch::trimmed(sight.system.file_text(path).value_or("")));
}

void check_clock(const Sight& sight, Report& report) {
  static constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies",
                                               "pit"};
  const std::string source =
      word_in(sight, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (std::find(std::begin(kSlow), std::end(kSlow), source) == std::end(kSlow)) return;
  report.fault("clock", "the kernel's clock is " + source,
               "Each look at it is a system call or worse, and livebtl looks at it in every round: "
               "small messages get several times slower.",
               "cat /sys/devices/system/clocksource/clocksource0/available_clocksource; in a "
               "guest, give it kvm-clock or an invariant tsc");
}

/// Processes in a container also have pids of their own namespace.
void check_container(const Sight& sight, Report& report) {
  for (const std::string& line :
       launch::lines_of(sight.system.file_text("/proc/self/status").value_or(""))) {
    if (!line.starts_with("NSpid:")) continue;
    const std::string_view numbers = launch::trimmed(std::string_view(line).substr(6));
    if (numbers.find_first_of(" \t") == std::string_view::npos) return;
    report.note("namespaces", "this is a container with process numbers of its own",
                "Processes in two containers of one machine cannot share memory: they talk over "
                "the network.",
                "start the containers of a node with the host's or a common pid and ipc namespace, "
                "or put all its ranks into one");
    return;
  }
}

}  // namespace

void check_limits(const Sight& sight, Report& report) {
  const auto& probe = sight.probe;
  const bool has_rdma = !launch::rdma_devices(sight.system).empty();
  if (has_rdma && probe.locked_bytes_max < kLockedBytesMin) {
    report.fault("memlock", "a process may lock " + in_mib(probe.locked_bytes_max) + " of memory",
                 "RDMA devices work with locked memory alone: queues cannot be made, or large "
                 "messages are copied.",
                 "ulimit -l unlimited; for good: '* - memlock unlimited' in "
                 "/etc/security/limits.conf, LimitMEMLOCK=infinity for slurmd");
  }
  if (probe.descriptors_max < kDescriptorsMin) {
    report.fault("descriptors",
                 "a process may open " + std::to_string(probe.descriptors_max) + " files, and " +
                     std::to_string(kDescriptorsMin) + " are advised",
                 "Each connection needs one; without any left processes cannot reach each other.",
                 "ulimit -n 4096");
  }
}

namespace {

/// Checks what cma needs, unless cma is not wanted or knem replaces it.
void check_single_copy(const Sight& sight, Report& report) {
  const SingleCopy way = sight.settings.sm_single_copy;
  if (way == SingleCopy::kNone) return;
  const bool knem = way != SingleCopy::kCma && sight.system.may_read_and_write("/dev/knem");
  const std::string scope = word_in(sight, "/proc/sys/kernel/yama/ptrace_scope");
  const bool restricted = !scope.empty() && scope != "0" && !sight.probe.root;
  if (way == SingleCopy::kKnem && !knem) {
    report.note("knem", "/dev/knem is not there, or may not be opened",
                "LIVEBTL_SM_SINGLE_COPY is knem: large messages over sm are copied twice.",
                "modprobe knem, and let its users open /dev/knem; or LIVEBTL_SM_SINGLE_COPY=auto");
  } else if (knem) {
    report.fact("sm", restricted || !sight.probe.single_copy || way == SingleCopy::kKnem
                          ? "single copy is possible, by /dev/knem"
                          : "single copy is possible");
  } else if (restricted) {
    report.note(
        "ptrace-scope", "kernel.yama.ptrace_scope is " + scope,
        "A process may not read another one's memory: large messages over sm are copied twice.",
        "sysctl kernel.yama.ptrace_scope=0, if you trust your users with that; or load the driver "
        "of /dev/knem, which needs no such right");
  } else if (!sight.probe.single_copy) {
    report.note(
        "single-copy", "the kernel refuses process_vm_readv",
        "Large messages over sm are copied twice. Containers' seccomp profiles often forbid it.",
        "docker run --cap-add SYS_PTRACE, or --device /dev/knem where its driver is loaded, or "
        "leave it so");
  } else {
    report.fact("sm", "single copy is possible");
  }
}

}  // namespace

void check_memory(const Sight& sight, Report& report) {
  const auto facts = sight.system.facts("/dev/shm");
  if (!facts || facts->kind != launch::FileFacts::Kind::kDirectory ||
      !sight.system.may_read_and_write("/dev/shm")) {
    report.fault("shm", "/dev/shm is not there, or may not be written",
                 "Open MPI keeps memory there that its processes share, beside livebtl's own.",
                 "mount -t tmpfs -o mode=1777 shm /dev/shm");
  } else if (sight.probe.shm_free_bytes < kShmBytesMin) {
    report.fault("shm-small", "in /dev/shm " + in_mib(sight.probe.shm_free_bytes) + " are free",
                 "Open MPI keeps memory there that its processes share; where it is full they are "
                 "killed (SIGBUS).",
                 "ls -l /dev/shm, and remove what is left over; in a container: --shm-size=1g");
  }
  check_single_copy(sight, report);
}

void check_kernel(const Sight& sight, Report& report) {
  if (!sight.probe.membarrier) {
    report.fault("membarrier", "the kernel refuses membarrier(2)",
                 "The lock of each engine is then an ordinary one, and each message costs more.",
                 "use a kernel with CONFIG_MEMBARRIER; in a container let the seccomp profile "
                 "permit membarrier");
  }
  check_clock(sight, report);
  check_container(sight, report);
}

void check_run_directory(const Sight& sight, Report& report) {
  const auto& probe = sight.probe;
  if (!probe.run_problem.empty()) {
    report.fault(
        "run-directory", probe.run_problem,
        "The processes of a job find one another there: MPI_Init fails, or btlctl finds no job.",
        "name a directory of your own with mode 0700 in LIVEBTL_RUNDIR, or unset it");
  } else if (probe.run_directory.size() > kRunDirectoryBytesMax) {
    report.fault("run-directory-long",
                 "the run directory's path is " + std::to_string(probe.run_directory.size()) +
                     " bytes long: " + probe.run_directory,
                 "Sockets in it have longer ones, and the kernel takes 107 bytes.",
                 "export LIVEBTL_RUNDIR=/tmp/livebtl-$(id -u)");
  } else {
    report.fact("run directory", probe.run_directory);
  }
}

void check_node(const Sight& sight, Report& report) {
  check_library(sight, report);
  check_provider(sight, report);
  check_open_mpi(sight, report);
  check_settings(sight, report);
  check_run_directory(sight, report);
  check_limits(sight, report);
  check_memory(sight, report);
  check_kernel(sight, report);
  check_tcp(sight, report);
  check_rdma(sight, report);
}

}  // namespace livebtl::doctor
