// SPDX-License-Identifier: BSD-3-Clause
// watchd/settings.h -- livebtl-watchd's settings, from its file and its command line. Plain values; hostile until they
// have passed here.
#pragma once

#include "base/config_file.h"
#include "watchd/events/event_machine.h"

namespace livebtl::watchd {

inline constexpr const char* kConfigFile = "/etc/livebtl/watchd.conf";

struct Settings {
  std::vector<std::string> sources;  // of kSourceNames, each once
  std::string node;                  // as the job names this machine; "": the machine's name
  std::vector<std::string> btlctl = {"btlctl"};
  std::vector<std::string> transports;  // to set aside; none: all that are bound to a device
  std::string connect, secret_file;     // of a job elsewhere; "": the jobs of this node
  std::string journal = "/var/lib/livebtl-watchd/journal.jsonl";
  std::string azure_url = "http://169.254.169.254", gce_url = "http://metadata.google.internal",
              ec2_url = "http://169.254.169.254";
  std::string azure_machine;  // "": as the metadata say
  std::vector<std::string> slurm_command = {"scontrol", "show", "node", "--oneliner"};
  std::string file = "/run/livebtl-watchd/notices.json";
  std::string socket = "/run/livebtl-watchd/socket";
  TimeNs poll = 0;  // 0: what suits each source
  bool alone_acknowledges = true;
  Policy policy;
};

inline constexpr const char* kSourceNames[] = {"azure", "gce", "ec2", "slurm", "file", "socket"};

/// Later assignments win. Errors: kInvalid: an unknown name, a value out of its limits.
Result<Settings> read_watchd_settings(const std::vector<Assignment>& assignments);

}  // namespace livebtl::watchd
