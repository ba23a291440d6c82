// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/connections.h -- the TCP connections of the processes that are dumped: each must have its other end in
// one of them, too. An end that stays behind would lose the connection when the processes are ended. Reads /proc; used by
// btlctl's one thread; owns nothing.
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

/// What is established in a table of /proc/PID/net: tcp, tcp6. An IPv4 address in an IPv6 one is written as itself.
std::vector<TcpConnection> read_tcp_table(std::string_view text);

/// Those of these processes whose other end is in none of them.
std::vector<TcpConnection> connections_out_of(const std::vector<pid_t>& tree);

/// The first of these, of all nodes, whose other end is not among them; nullptr: there is none.
const TcpConnection* half_connection(const std::vector<TcpConnection>& all);

}  // namespace livebtl::hypervisor
