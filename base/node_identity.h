// SPDX-License-Identifier: BSD-3-Clause
// base/node_identity.h -- which processes may share memory: equal hashes mean "one node".
//
// Not the host's name: containers share names and clones repeat them. Pure except
// read_node_parts() and what calls it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "livebtl/result.h"

namespace livebtl {

/// Decides whether a Unix socket in the job's directory is reachable and its peer credentials mean
/// the same to both ends. Not the network namespace (named Unix sockets and memfds cross it), nor
/// the IPC namespace (it holds System V objects, which are not used).
struct NodeParts {
  std::string boot_id;                // of this kernel, since boot
  std::uint64_t pid_namespace = 0;    // the peer's process id is visible
  std::uint64_t user_namespace = 0;   // user ids mean the same
  std::uint64_t mount_namespace = 0;  // the socket's path is the same file
};

/// From /proc. Errors: kSystem.
Result<NodeParts> read_node_parts();

/// Never 0. A non-empty `name` (setting NODE) is hashed alone: processes with the same name are one
/// node, whatever the kernel says.
std::uint64_t hash_node(std::string_view name, const NodeParts& parts);

/// hash_node() of read_node_parts(); with a name, /proc is not read. Errors: kSystem.
Result<std::uint64_t> node_identity(std::string_view name);

}  // namespace livebtl
