// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/process_tree.cc -- see process_tree.h.
#include "hypervisor/criu/process_tree.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/fd.h"
#include "base/process_mark.h"
#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kPassingPlaces[] = {"/dev/shm", "/run", "/tmp", "/var/tmp"};

/// From itself upwards, without process 1.
std::vector<pid_t> ancestors_of(pid_t pid) {
  std::vector<pid_t> line;
  while (pid > 1) {
    const auto stat = read_process_stat(pid);
    if (!stat) break;
    line.push_back(pid);
    pid = stat->parent;
  }
  return line;
}

std::string process_path(pid_t pid, const char* what) {
  return "/proc/" + std::to_string(pid) + "/" + what;
}

/// What the links in a directory of /proc lead to.
void add_links(const std::string& directory, std::set<std::string>& found) {
  std::error_code broken;
  for (std::filesystem::directory_iterator each(directory, broken), end; !broken && each != end;
       each.increment(broken)) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(each->path(), gone);
    if (!gone) found.insert(target.string());
  }
}

bool can_be_saved(const std::string& path, uid_t owner) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && facts.st_uid == owner &&
         (S_ISREG(facts.st_mode) || S_ISFIFO(facts.st_mode) || S_ISDIR(facts.st_mode));
}

void add_with_parents(const std::string& path, uid_t owner, std::set<std::string>& files) {
  const std::string place = passing_place(path);
  if (place.empty() || path.find('\n') != std::string::npos || !can_be_saved(path, owner)) return;
  for (std::string each = path; each.size() > place.size(); each = each.substr(0, each.rfind('/')))
    files.insert(each);
}

bool is_still(const KnownProcess& known) {
  const auto stat = read_process_stat(known.pid);
  return stat && stat->start == known.start;
}

/// By a descriptor, which stays with the process that was looked at, whoever has its pid
/// afterwards.
/// Returns errno if it is still there and cannot be killed; else 0.
int kill_if_same(const KnownProcess& known, uid_t owner) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, known.pid, 0)));
  if (!process) return errno == ESRCH ? 0 : errno;
  if (!is_still(known) || owner_of(known.pid) != owner) return 0;
  const bool sent = ::syscall(SYS_pidfd_send_signal, process.number(), SIGKILL, nullptr, 0) == 0;
  return sent || errno == ESRCH ? 0 : errno;
}

}  // namespace

std::string passing_place(const std::string& path) {
  for (std::string place : kPassingPlaces) {
    if (path.starts_with(place + "/")) return place;
  }
  return "";
}

Result<pid_t> root_of(const std::vector<pid_t>& members, bool launched) {
  std::vector<pid_t> common;
  for (const pid_t member : members) {
    std::vector<pid_t> line = ancestors_of(member);
    if (line.empty())
      return fail(Errc::kNotFound, "process " + std::to_string(member) + " has ended");
    if (launched) line.erase(line.begin());
    if (common.empty()) common = line;
    std::erase_if(common, [&line](pid_t pid) {
      return std::find(line.begin(), line.end(), pid) == line.end();
    });
    if (common.empty()) break;
  }
  if (!common.empty()) return common.front();
  return fail(Errc::kRefused,
              "the job's processes have no process above them all but process 1; start them by one "
              "launcher, or by one shell of their own");
}

std::vector<pid_t> tree_below(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code broken;
  for (std::filesystem::directory_iterator each("/proc", broken), end; !broken && each != end;
       each.increment(broken)) {
    const auto pid = parse_number<pid_t>(each->path().filename().string());
    const auto stat = pid ? read_process_stat(*pid) : std::nullopt;
    if (stat) children.emplace(stat->parent, *pid);
  }
  std::vector<pid_t> tree = {root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [first, last] = children.equal_range(tree[i]);
    for (auto child = first; child != last; ++child) tree.push_back(child->second);
  }
  std::sort(tree.begin(), tree.end());
  return tree;
}

std::optional<uid_t> owner_of(pid_t pid) {
  struct stat facts {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &facts) != 0) return std::nullopt;
  return facts.st_uid;
}

Status check_owner(const std::vector<pid_t>& pids, uid_t owner) {
  for (const pid_t pid : pids) {
    const auto its = owner_of(pid);
    if (!its || *its == owner) continue;
    const std::string name = named_process(pid);
    return fail(Errc::kRefused,
                (name.empty() ? "process " + std::to_string(pid) : name) + " belongs to user " +
                    std::to_string(*its) + ", but the job to user " + std::to_string(owner) +
                    ", and nobody else's process is dumped with it; have the job's user start the "
                    "launcher, and all below it");
  }
  return {};
}

Result<pid_t> root_of_user(const std::vector<pid_t>& members, bool launched, uid_t owner) {
  if (const Status own = check_owner(members, owner); !own) return tl::unexpected(own.error());
  auto root = root_of(members, launched);
  if (!root) return root;
  if (const Status own = check_owner(tree_below(*root), owner); !own)
    return tl::unexpected(own.error());
  return root;
}

std::vector<KnownProcess> known_processes(const std::vector<pid_t>& pids) {
  std::vector<KnownProcess> known;
  for (const pid_t pid : pids) {
    if (const auto stat = read_process_stat(pid)) known.push_back({pid, stat->start});
  }
  return known;
}

Status kill_known(const std::vector<KnownProcess>& processes, uid_t owner) {
  std::map<pid_t, KnownProcess> doomed;
  for (const KnownProcess& each : processes) {
    if (doomed.contains(each.pid) || !is_still(each)) continue;
    for (const KnownProcess& below : known_processes(tree_below(each.pid)))
      doomed.emplace(below.pid, below);
  }
  Status all;
  for (const auto& [pid, each] : doomed) {
    if (const int error = kill_if_same(each, owner); error != 0)
      all = fail(Errc::kSystem, "process " + std::to_string(pid) +
                                    " cannot be ended: " + std::generic_category().message(error));
  }
  return all;
}

std::string named_process(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat && stat->state != 'Z' ? stat->name + " (" + std::to_string(pid) + ")" : "";
}

std::string named_processes(const std::vector<pid_t>& pids) {
  std::string names;
  for (const pid_t pid : pids) {
    const std::string name = named_process(pid);
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::vector<std::string> passing_files(const std::vector<pid_t>& tree, const std::string& directory,
                                       uid_t owner) {
  std::set<std::string> seen;
  for (const pid_t pid : tree) {
    add_links(process_path(pid, "fd"), seen);
    add_links(process_path(pid, "map_files"), seen);
  }
  std::error_code broken;
  for (std::filesystem::directory_iterator each(directory, broken), end; !broken && each != end;
       each.increment(broken))
    seen.insert(each->path().string());
  std::set<std::string> files;
  for (const std::string& path : seen) add_with_parents(path, owner, files);
  return {files.begin(), files.end()};
}

std::map<std::uint64_t, std::string> sockets_of(const std::vector<pid_t>& tree) {
  constexpr std::string_view kPrefix = "socket:[";
  std::map<std::uint64_t, std::string> sockets;
  for (const pid_t pid : tree) {
    std::error_code broken;
    for (std::filesystem::directory_iterator each("/proc/" + std::to_string(pid) + "/fd", broken),
         end;
         !broken && each != end; each.increment(broken)) {
      std::error_code gone;
      const std::string link = std::filesystem::read_symlink(each->path(), gone).string();
      if (gone || !link.starts_with(kPrefix)) continue;
      const auto inode = parse_number<std::uint64_t>(
          link.substr(kPrefix.size(), link.size() - kPrefix.size() - 1));
      if (inode) sockets.emplace(*inode, named_process(pid));
    }
  }
  return sockets;
}

}  // namespace livebtl::hypervisor
