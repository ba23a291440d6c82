// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_interfaces.cc -- see tcp_interfaces.h.
#include "transports/tcp/tcp_interfaces.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace livebtl::tcp {
namespace {

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
std::uint64_t fnv1a(Bytes bytes, std::uint64_t hash) noexcept {
  for (const std::byte byte : bytes) {
    hash ^= std::to_integer<std::uint64_t>(byte);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

constexpr int kNotReachable = -1;
constexpr int kLoopback = 0;
constexpr int kOwn = 1;

/// Lower is better. The same address at both ends is another machine's own if the networks differ.
int rank(const SocketAddress& candidate, bool one_network, const std::vector<LocalAddress>& local) {
  const auto is_own = [&](const LocalAddress& mine) { return mine.ip == candidate.ip; };
  if (is_loopback(candidate.ip)) return one_network ? kLoopback : kNotReachable;
  if (std::any_of(local.begin(), local.end(), is_own)) return one_network ? kOwn : 4;
  const auto shares = [&](const LocalAddress& mine) {
    return is_v4(mine.ip) == is_v4(candidate.ip) && !is_loopback(mine.ip) &&
           same_prefix(mine.ip, candidate.ip, mine.prefix_bits);
  };
  if (std::any_of(local.begin(), local.end(), shares)) return 2;
  const auto same_family = [&](const LocalAddress& mine) {
    return is_v4(mine.ip) == is_v4(candidate.ip) && !is_loopback(mine.ip);
  };
  const bool routable = one_network || std::any_of(local.begin(), local.end(), same_family);
  return routable ? 3 : kNotReachable;
}

/// A peer that gives an address of this machine may listen only on loopback so far.
SocketAddress loopback_of(const SocketAddress& own) {
  static const IpBytes v4 = *parse_ip("127.0.0.1"), v6 = *parse_ip("::1");
  return {is_v4(own.ip) ? v4 : v6, own.port};
}

}  // namespace

std::uint64_t network_hash() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  struct stat space {};
  if (!std::getline(file, boot_id) || ::stat("/proc/self/ns/net", &space) != 0) return 0;
  std::uint64_t hash = fnv1a(as_bytes(boot_id), 0xcbf29ce484222325ULL);
  hash = fnv1a(bytes_of(space.st_dev), hash);
  return fnv1a(bytes_of(space.st_ino), hash);
}

bool has_candidates(const Reachable& own, const std::vector<LocalAddress>& local,
                    const Reachable& peer) {
  const bool one_network = own.network != 0 && same_network(own, peer);
  return std::ranges::any_of(peer.sockets, [&](const SocketAddress& candidate) {
    return rank(candidate, one_network, local) != kNotReachable;
  });
}

std::vector<SocketAddress> order_candidates(const Reachable& own,
                                            const std::vector<LocalAddress>& local,
                                            const Reachable& peer) {
  const bool one_network = own.network != 0 && same_network(own, peer);
  std::vector<std::pair<int, SocketAddress>> ranked;
  for (const SocketAddress& candidate : peer.sockets) {
    const int place = rank(candidate, one_network, local);
    if (place == kOwn) ranked.emplace_back(kLoopback, loopback_of(candidate));
    if (place != kNotReachable) ranked.emplace_back(place, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<SocketAddress> result;
  result.reserve(ranked.size());
  for (const auto& [place, candidate] : ranked) {
    if (std::ranges::find(result, candidate) == result.end()) result.push_back(candidate);
  }
  return result;
}

}  // namespace livebtl::tcp
