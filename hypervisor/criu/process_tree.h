// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/process_tree.h -- the processes that CRIU is to dump, by /proc: which one is above all of a job, which
// are below it, and which files of theirs would be gone where they are restored. Used by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// The process that is above all of these: the launcher's, whose children they are, or, without a launcher, their own one.
/// Errors: kNotFound: one has ended; kRefused: there is none but process 1.
Result<pid_t> root_of(const std::vector<pid_t>& members, bool launched);

/// It, and all below it, in ascending order.
std::vector<pid_t> tree_below(pid_t root);

/// The user whose process it is; nullopt: it has ended.
std::optional<uid_t> owner_of(pid_t pid);
/// Do all of these that have not ended belong to that user? A member's number is told by its user, who may name anybody's
/// process. Errors: kRefused, with the process.
Status check_owner(const std::vector<pid_t>& pids, uid_t owner);
/// root_of(), where it and all below it belong to that user. Errors: kNotFound, kRefused.
Result<pid_t> root_of_user(const std::vector<pid_t>& members, bool launched, uid_t owner);

/// A process, and when it began: its number may be another one's later.
struct KnownProcess {
  pid_t pid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
};
/// Those of these that are there.
std::vector<KnownProcess> known_processes(const std::vector<pid_t>& pids);
/// Kills those that are still the same, and all below them, as far as they are that user's.
void kill_known(const std::vector<KnownProcess>& processes, uid_t owner);

/// "mpirun (215)"; "" if it has ended.
std::string named_process(pid_t pid);
/// Those of these that are there: "mpirun (215), hello (217)"; "": none is.
std::string named_processes(const std::vector<pid_t>& pids);

/// The sockets that these processes have open, by their numbers, which are those of the whole node, and whose each is.
std::map<std::uint64_t, std::string> sockets_of(const std::vector<pid_t>& tree);

/// The place that this path is in of those that do not outlive the machine, or belong to it alone: /dev/shm, /run, /tmp or
/// /var/tmp; "": in none of them.
std::string passing_place(const std::string& path);

/// Files, named pipes and directories of that user's that these processes have open or mapped in such places, and those in
/// `directory`; with the directories above each. What is another user's is none of the job's: root would archive it, and
/// later put it back over what is there.
std::vector<std::string> passing_files(const std::vector<pid_t>& tree, const std::string& directory,
                                       uid_t owner);

}  // namespace livebtl::hypervisor
