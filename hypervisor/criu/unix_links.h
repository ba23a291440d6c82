// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/unix_links.h -- Unix sockets of dumped processes whose other end is open in a
// process that is not dumped: CRIU refuses such a dump, but names no process. As the kernel tells
// by sock_diag(7), of this network namespace; used by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"

namespace livebtl::hypervisor {

/// "e2e_stream (212) has a Unix socket connected to livebtl-relay (220)"; nullopt if there is none,
/// or the kernel does not tell.
std::optional<std::string> unix_link_out_of(const std::vector<pid_t>& tree);

/// Waits, since a command or a relay that is ending may still have to close its end. Returns as
/// soon as there is no such link; else, after some seconds or at the deadline, the last one.
std::optional<std::string> wait_for_unix_links(const std::vector<pid_t>& tree,
                                               const Deadline& deadline);

}  // namespace livebtl::hypervisor
