// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_job.h -- dumps the processes of a job with CRIU as a sealed set, and
// restores them. Runs btlctl, CRIU and tar as programs; blocks btlctl's one thread; owns nothing
// afterwards.
#pragma once

#include <functional>
#include <map>

#include "base/fd.h"
#include "hypervisor/criu/new_addresses.h"
#include "hypervisor/plan/report.h"
#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

inline constexpr SetForm kProcessSet{".criu", "images"};
inline constexpr SetForm kNodesSet{".criu", "images", true, ".kept"};  // of several nodes

/// A job as it is found on this node.
struct JobHere {
  std::string id;
  std::string directory;  // its run directory
  std::vector<pid_t> members;
  bool launched = false;   // by a launcher, whose children they are
  bool elsewhere = false;  // it has processes on other nodes, or may get some
  uid_t owner = 0;  // of its run directory: what the member cards there say is this user's word
  std::string relay =
      {};  // where this node's listens, with current addresses: "10.0.0.7:40123,..."; "": none
};

struct CriuRequest {
  std::string directory;      // of the set
  std::string node;           // dump: its file is named after it
  std::string criu = "criu";  // the program
  GuestJob job;               // btlctl, and the job as the user has named it
  TimeNs lease = 0;           // dump: of the hold
  TimeNs timeout = 0;         // of the whole command
  bool goes_on = false;       // dump: the processes do afterwards
  bool dry_run = false;
  std::string
      node_command;  // runs a program on a node: "ssh {node}"; "": the job is on this node alone
  /// By a node's name in the job and its set: the host where its processes are, or are to be.
  /// Default: the host of the same name.
  std::map<std::string, std::string> hosts;
  std::vector<NewAddress> addresses;  // restore: of all nodes
  std::function<std::vector<LocalAddress>()> own_addresses =
      local_addresses;                        // restore: of this host
  std::function<Result<JobHere>()> find_job;  // dump; restore: to learn of its relay
  std::function<Result<std::vector<std::string>>()>
      find_nodes;  // dump: the names of all that the job is on
  /// Dump: ends the job's relay on this node, which is not in its tree, and keeps it from being
  /// started again for as long as the returned descriptor is open.
  std::function<Result<Fd>()> still_relay;
  std::function<Status(std::int64_t)> set_clock;  // restore: of processes started from then on
};

inline std::string host_of(const CriuRequest& request, const std::string& node) {
  const auto moved = request.hosts.find(node);
  return moved == request.hosts.end() ? node : moved->second;
}

Report dump_job(const CriuRequest& request, const std::atomic<bool>& stop,
                const Progress& progress);
Report restart_job(const CriuRequest& request, const std::atomic<bool>& stop,
                   const Progress& progress);

/// Processes started from now on, and their children, see a monotonic clock that goes on from there
/// (a time namespace). Errors: kSystem.
Status continue_clock(std::int64_t monotonic_s);

}  // namespace livebtl::hypervisor
