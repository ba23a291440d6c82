// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/guest_holders.cc -- see guest_holders.h.
#include "hypervisor/guest_holders.h"

namespace livebtl::hypervisor {
namespace {

// No btlctl: who holds it may be none of a job's. Processes come and go meanwhile.
constexpr const char* kLookForHolders =
    "for p in /proc/[0-9]*; do case $(ls -l $p/fd 2>/dev/null) in *' /dev/infiniband/'*) "
    "read -r name <$p/comm && echo \"$name (pid ${p#/proc/})\";; esac; done; true";

}  // namespace

std::string holders_text(GuestAgent& agent, const Patience& patience) {
  const auto finished = agent.run({"/bin/sh", "-c", kLookForHolders}, patience);
  if (!finished || finished->code != 0) return "";
  const std::string holders = one_line(finished->output);
  return holders.empty() ? "" : "; held in the guest by " + holders;
}

}  // namespace livebtl::hypervisor
