// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/connections.h -- the TCP connections of the dumped processes: each must have its
// other end in one of them as well. An end that stays behind would lose the connection when the
// processes are ended. Reads /proc; used by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace livebtl::hypervisor {

struct TcpConnection {
  std::string local, remote;  // "10.0.0.1:443", "[fe80::1]:443"
  std::string owner;          // "mpirun (215)"
  std::uint64_t inode = 0;
};

/// The established connections in a table of /proc/PID/net (tcp, tcp6). An IPv4-mapped IPv6 address
/// is written as IPv4.
std::vector<TcpConnection> read_tcp_table(std::string_view text);

/// The connections of these processes whose other end is in none of them.
std::vector<TcpConnection> connections_out_of(const std::vector<pid_t>& tree);

/// The first of these connections, of all nodes, whose other end is not among them; nullptr if
/// none.
const TcpConnection* half_connection(const std::vector<TcpConnection>& all);

}  // namespace livebtl::hypervisor
