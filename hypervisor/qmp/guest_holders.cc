// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/guest_holders.cc -- see guest_holders.h.
#include "hypervisor/qmp/guest_holders.h"

#include <sstream>

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kNamedMax = 5;

// Not btlctl's own list: the holder need not be a process of the job. Processes come and go
// meanwhile. One open file of each is enough.
constexpr const char* kLookForHolders =
    "for p in /proc/[0-9]*; do l=$(ls -l $p/fd 2>/dev/null); "
    "case $l in *' /dev/infiniband/'*) f=${l#*' /dev/infiniband/'}; f=${f%%[!a-z0-9_]*}; "
    "read -r name <$p/comm && echo \"$name (pid ${p#/proc/}, /dev/infiniband/$f)\";; esac; "
    "done; true";

}  // namespace

std::string holders_text(GuestAgent& agent, const Deadline& deadline) {
  const auto finished = agent.run({"/bin/sh", "-c", kLookForHolders}, deadline);
  if (!finished || finished->code != 0) return "";
  std::string text;
  std::size_t holders = 0;
  std::istringstream lines(finished->output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (++holders <= kNamedMax) text += (holders == 1 ? "" : ", ") + one_line(line);
  }
  if (holders == 0) return "";
  if (holders > kNamedMax) text += " and " + std::to_string(holders - kNamedMax) + " more";
  return "; in the guest these have an RDMA device open: " + text;
}

}  // namespace livebtl::hypervisor
