// SPDX-License-Identifier: BSD-3-Clause
// doctor/sight.h -- what the checks look at: the machine through launch::System, and, as plain
// values, what the kernel says of this process. Tests make one by hand; look_at_this_node() makes
// the real one.
//
// Threads: one. A check writes to the report and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interfaces.h"
#include "base/settings.h"
#include "doctor/finding.h"
#include "launch/doors.h"
#include "launch/plan.h"
#include "launch/system.h"

namespace livebtl::doctor {

struct NodeProbe {
  bool root = false;
  std::uint64_t locked_bytes_max = 0;
  std::uint64_t descriptors_max = 0;
  bool membarrier = true;            // the expedited one, which revokes an engine's lock
  bool single_copy = true;           // a process may read a neighbour's memory
  bool verbs_library = true;         // libibverbs can be loaded
  std::uint64_t shm_free_bytes = 0;  // in /dev/shm
  std::vector<LocalAddress> addresses;
  bool port_free = true;                      // TCP_PORT is unset, or can be listened on
  std::string run_directory;                  // "": none can be used
  std::string run_problem;                    // why not
  std::string settings_problem;               // of environment and files, "": they can be read
  std::vector<std::string> setting_warnings;  // for names that are not settings
  std::string secret_problem;                 // of SECRET_FILE; "": none, or it is not set
  std::vector<std::string> device_holders;    // processes, not livebtl's, that hold RDMA devices
};

struct Sight {
  const launch::System& system;
  launch::Places places;
  NodeProbe probe;
  Settings settings;
  std::string version;  // of this program
  bool by_run = false;  // the launch line that is looked at begins with livebtl-run
};

/// settings: filled in as a process started here would have them.
NodeProbe look_at_this_node(const launch::System& system, Settings& settings);

// doors_check.cc
void check_provider(const Sight& sight, Report& report);
void check_open_mpi(const Sight& sight, Report& report);
void check_library(const Sight& sight, Report& report);
// node_check.cc
void check_limits(const Sight& sight, Report& report);
void check_memory(const Sight& sight, Report& report);
void check_kernel(const Sight& sight, Report& report);
void check_run_directory(const Sight& sight, Report& report);
// settings_check.cc
/// Is it the name or the alias of a transport that this version has?
bool is_transport(std::string_view name) noexcept;
void check_settings(const Sight& sight, Report& report);
void check_tcp(const Sight& sight, Report& report);
// rdma_check.cc
void check_rdma(const Sight& sight, Report& report);

/// All of the above.
void check_node(const Sight& sight, Report& report);
/// line_check.cc: checks a launch line, which begins with the launcher. by_run: livebtl-run's own
/// wishes before it; null: livebtl-run is not there.
void check_line(const Sight& sight, const std::vector<std::string>& words,
                const launch::Wishes* by_run, Report& report);

}  // namespace livebtl::doctor
