// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/connections.cc -- see connections.h.
#include "hypervisor/criu/connections.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "base/text_file.h"
#include "hypervisor/criu/process_tree.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kTableBytesMax = std::size_t{64} << 20;
constexpr std::string_view kEstablished = "01";
constexpr std::string_view kMapped =
    "0000000000000000FFFF0000";  // ::ffff:0:0, as the kernel writes it

/// The kernel writes words of four bytes as they are in memory.
std::optional<std::string> read_address(std::string_view digits) {
  const bool mapped = digits.starts_with(kMapped) && digits.size() == 32;
  if (mapped) digits.remove_prefix(kMapped.size());
  if (digits.size() != 8 && digits.size() != 32) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i * 8 < digits.size(); ++i) {
    const auto word = parse_hex(std::string(digits.substr(i * 8, 8)));
    if (!word) return std::nullopt;
    words[i] = static_cast<std::uint32_t>(*word);
  }
  char text[INET6_ADDRSTRLEN] = "";
  const bool v4 = digits.size() == 8;
  ::inet_ntop(v4 ? AF_INET : AF_INET6, words.data(), text, sizeof text);
  return v4 ? std::string(text) : "[" + std::string(text) + "]";
}

/// "0100000A:1F90": 10.0.0.1:8080.
std::optional<std::string> read_end(const std::string& field) {
  const auto colon = field.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto address = read_address(std::string_view(field).substr(0, colon));
  const auto port = parse_hex(field.substr(colon + 1));
  if (!address || !port) return std::nullopt;
  return *address + ":" + std::to_string(*port);
}

/// Both ends of each connection, to look one up among many thousands while the processes stand
/// still. Borrows their texts.
using Ends = std::set<std::pair<std::string_view, std::string_view>>;

Ends ends_of(const std::vector<TcpConnection>& all) {
  Ends ends;
  for (const TcpConnection& each : all) ends.emplace(each.local, each.remote);
  return ends;
}

bool has_other_end(const TcpConnection& one, const Ends& all) {
  return all.contains({one.remote, one.local});
}

}  // namespace

std::vector<TcpConnection> read_tcp_table(std::string_view text) {
  std::vector<TcpConnection> found;
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string skipped, local, remote, state;
    std::uint64_t inode = 0;
    fields >> skipped >> local >> remote >> state;
    for (int i = 0; i < 5; ++i)
      fields >> skipped;  // queues, timer, retransmissions, user, time-out
    fields >> inode;
    auto here = read_end(local);
    auto there = read_end(remote);
    if (!fields || state != kEstablished || !here || !there) continue;
    found.push_back({std::move(*here), std::move(*there), "", inode});
  }
  return found;
}

std::vector<TcpConnection> connections_out_of(const std::vector<pid_t>& tree) {
  const auto sockets = sockets_of(tree);
  std::vector<TcpConnection> ours;
  std::set<std::uint64_t> seen;
  for (const pid_t pid : tree) {
    // Processes in one network namespace have the same table; each connection counts once.
    for (const char* table : {"/net/tcp", "/net/tcp6"}) {
      const auto text = read_text("/proc/" + std::to_string(pid) + table, kTableBytesMax);
      for (TcpConnection& each : read_tcp_table(text.value_or(""))) {
        const auto owner = sockets.find(each.inode);
        if (owner == sockets.end() || !seen.insert(each.inode).second) continue;
        each.owner = owner->second;
        ours.push_back(std::move(each));
      }
    }
  }
  const Ends ends = ends_of(ours);
  std::vector<TcpConnection> out;
  for (const TcpConnection& each : ours) {
    if (!has_other_end(each, ends)) out.push_back(each);
  }
  return out;
}

const TcpConnection* half_connection(const std::vector<TcpConnection>& all) {
  const Ends ends = ends_of(all);
  const auto half = std::find_if(all.begin(), all.end(), [&ends](const TcpConnection& each) {
    return !has_other_end(each, ends);
  });
  return half == all.end() ? nullptr : &*half;
}

}  // namespace livebtl::hypervisor
