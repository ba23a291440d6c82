// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/process_tree.h -- the processes that CRIU is to dump, as /proc shows them: which
// one is above all of a job, which are below it, and which of their files would be gone where they
// are restored. Used by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// The lowest process above all of these: the launcher's, whose children they are, or, without a
/// launcher, possibly one of them.
/// Errors: kNotFound: one has ended; kRefused: there is none but process 1.
Result<pid_t> root_of(const std::vector<pid_t>& members, bool launched);

/// The root and all below it, in ascending order.
std::vector<pid_t> tree_below(pid_t root);

/// The user whose process it is; nullopt if it has ended.
std::optional<uid_t> owner_of(pid_t pid);
/// Checks that all of these that have not ended belong to that user: a member's pid is told by its
/// user, who may name anybody's process. Errors: kRefused, with the process.
Status check_owner(const std::vector<pid_t>& pids, uid_t owner);
/// root_of(), if it and all below it belong to that user. Errors: kNotFound, kRefused.
Result<pid_t> root_of_user(const std::vector<pid_t>& members, bool launched, uid_t owner);

/// A process and when it began: its pid may be another one's later.
struct KnownProcess {
  pid_t pid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
};
/// Those of these that exist.
std::vector<KnownProcess> known_processes(const std::vector<pid_t>& pids);
/// Kills those that are still the same, and all below them, as far as they belong to that user.
/// Errors: kSystem (one cannot be killed; the others are).
Status kill_known(const std::vector<KnownProcess>& processes, uid_t owner);

/// "mpirun (215)"; "" if it has ended.
std::string named_process(pid_t pid);
/// Those of these that exist: "mpirun (215), hello (217)"; "" if none does.
std::string named_processes(const std::vector<pid_t>& pids);

/// The open sockets of these processes: by inode, which is unique on the node, the process that has
/// it.
std::map<std::uint64_t, std::string> sockets_of(const std::vector<pid_t>& tree);

/// Which of the places that do not outlive the machine, or belong to it alone, this path is in:
/// /dev/shm, /run, /tmp or /var/tmp; "" if in none.
std::string passing_place(const std::string& path);

/// That user's files, named pipes and directories that these processes have open or mapped in such
/// places, and those in `directory`, with the directories above each. Another user's do not belong
/// to the job: root would archive them, and later put them back over what is there.
std::vector<std::string> passing_files(const std::vector<pid_t>& tree, const std::string& directory,
                                       uid_t owner);

}  // namespace livebtl::hypervisor
