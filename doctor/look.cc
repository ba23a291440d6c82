// SPDX-License-Identifier: BSD-3-Clause
// doctor/look.cc -- asks the kernel what the checks need to know about this process. What is opened
// is closed again.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/process_mark.h"
#include "base/process_settings.h"
#include "base/run_directory.h"
#include "doctor/sight.h"

namespace livebtl::doctor {
namespace {

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

bool has_membarrier() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

/// May a child read this process's memory? Ranks are related as closely as that, or less.
bool can_read_a_neighbour() {
  static const std::uint64_t here = 0x6c6976656274'6cu;
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return true;  // nothing is known
  if (child == 0) {
    std::uint64_t copy = 0;
    const iovec to{&copy, sizeof copy};
    const iovec from{const_cast<std::uint64_t*>(&here), sizeof here};
    ::_exit(::process_vm_readv(self, &to, 1, &from, 1, 0) == sizeof copy && copy == here ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool loads(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

std::uint64_t free_bytes_in(const char* directory) {
  struct statvfs facts {};
  return ::statvfs(directory, &facts) == 0 ? std::uint64_t{facts.f_bavail} * facts.f_frsize : 0;
}

bool can_listen_on(std::uint16_t port) {
  const Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  const int on = 1;
  if (!socket) return true;  // nothing is known
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
             0 &&
         ::listen(socket.number(), 1) == 0;
}

/// Processes, except those over livebtl, that have a file of /dev/infiniband open.
std::vector<std::string> holders_of_devices(const launch::System& system) {
  std::vector<std::string> holders;
  for (const std::string& pid : system.names_in("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string place = "/proc/" + pid;
    const auto files = system.names_in(place + "/fd");
    const bool holds = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return system.resolved(place + "/fd/" + file)
          .value_or("")
          .starts_with("/dev/infiniband/uverbs");
    });
    if (!holds ||
        system.file_text(place + "/maps").value_or("").find("liblivebtl") != std::string::npos)
      continue;
    const std::string name(launch::trimmed(system.file_text(place + "/comm").value_or("")));
    holders.push_back("process " + pid + " (" + name + ")");
  }
  return holders;
}

/// Even our own directory may be read-only, or on a full file system: a job's processes put files
/// of some pages there. "": they can.
std::string why_not_writable(const std::string& directory) {
  constexpr off_t kBytes = 64u << 10;
  std::string name = directory + "/doctor-XXXXXX";
  const Fd file(::mkstemp(name.data()));
  const int error = !file ? errno : ::posix_fallocate(file.number(), 0, kBytes);
  if (file) ::unlink(name.c_str());
  if (error == 0) return "";
  return "the run directory " + directory + " cannot be written: " + std::strerror(error);
}

void look_at_settings(const launch::System& system, NodeProbe& probe, Settings& settings) {
  for (const std::string& name : system.variable_names()) {
    if (const auto warning = unknown_setting_warning(name))
      probe.setting_warnings.push_back(*warning);
  }
  if (const auto files = read_config_files(config_paths())) {
    for (const Assignment& each : *files) {
      if (const auto warning = unknown_assignment_warning(each))
        probe.setting_warnings.push_back(*warning);
    }
  }
  if (const auto read = read_process_settings()) {
    settings = *read;
  } else {
    probe.settings_problem = read.error().text;
  }
}

}  // namespace

NodeProbe look_at_this_node(const launch::System& system, Settings& settings) {
  NodeProbe probe;
  look_at_settings(system, probe, settings);
  probe.root = ::geteuid() == 0;
  probe.locked_bytes_max = limit_of(RLIMIT_MEMLOCK);
  probe.descriptors_max = limit_of(RLIMIT_NOFILE);
  probe.membarrier = has_membarrier();
  probe.single_copy = can_read_a_neighbour();
  probe.verbs_library = loads("libibverbs.so.1");
  probe.shm_free_bytes = free_bytes_in("/dev/shm");
  probe.addresses = local_addresses();
  probe.port_free = settings.tcp_port == 0 || can_listen_on(settings.tcp_port);
  if (const auto directory = make_run_directory(settings.rundir, run_places())) {
    probe.run_directory = *directory;
    probe.run_problem = why_not_writable(*directory);
  } else {
    probe.run_problem = directory.error().text;
  }
  if (system.facts("/dev/infiniband")) probe.device_holders = holders_of_devices(system);
  return probe;
}

}  // namespace livebtl::doctor
