// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_interfaces.cc -- see tcp_interfaces.h.
#include "transports/tcp/tcp_interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>

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

unsigned count_prefix_bits(const sockaddr* mask, bool v4) noexcept {
  const auto raw = from_raw(mask);
  if (!raw) return 128;
  unsigned bits = v4 ? 96 : 0;
  for (std::size_t i = bits / 8; i < raw->ip.size(); ++i) {
    bits += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(raw->ip[i])));
  }
  return bits;
}

int preference(const LocalAddress& address) noexcept {
  return (is_loopback(address.ip) ? 2 : 0) + (is_v4(address.ip) ? 0 : 1);
}

struct Network {
  IpBytes ip{};
  unsigned prefix_bits = 128;
};

/// "10.0.0.0/8", "fd00::/64", "10.1.2.3"; nullopt: none of these.
std::optional<Network> parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto ip = parse_ip(text.substr(0, slash));
  if (!ip) return std::nullopt;
  const unsigned most = is_v4(*ip) ? 32 : 128;
  unsigned bits = most;
  if (slash != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
    if (error != std::errc{} || stop != end || bits > most) return std::nullopt;
  }
  return Network{*ip, bits + (128 - most)};
}

bool fits(const LocalAddress& address, const std::string& name,
          const std::optional<Network>& network) {
  if (address.interface == name) return true;
  return network && is_v4(network->ip) == is_v4(address.ip) &&
         same_prefix(address.ip, network->ip, network->prefix_bits);
}

std::string list_text(const std::vector<LocalAddress>& all) {
  std::string text;
  for (const LocalAddress& address : all) {
    if (!text.empty()) text += ", ";
    text += address.interface + " " + to_text(address.ip);
  }
  return text.empty() ? "none" : text;
}

constexpr int kNotReachable = -1;

/// Lower is better. The same address at both ends is another machine's own if the networks differ.
int rank(const SocketAddress& candidate, bool one_network, const std::vector<LocalAddress>& local) {
  const auto is_own = [&](const LocalAddress& mine) { return mine.ip == candidate.ip; };
  if (is_loopback(candidate.ip)) return one_network ? 0 : kNotReachable;
  if (std::any_of(local.begin(), local.end(), is_own)) return one_network ? 1 : 4;
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

}  // namespace

std::vector<LocalAddress> local_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<LocalAddress> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const auto raw = from_raw(entry->ifa_addr);
    if (!raw || (entry->ifa_flags & IFF_UP) == 0 || !is_unicast(raw->ip)) continue;
    all.push_back(
        {entry->ifa_name, raw->ip, count_prefix_bits(entry->ifa_netmask, is_v4(raw->ip))});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
    return preference(one) < preference(other);
  });
  return all;
}

std::uint64_t network_hash() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  struct stat space {};
  if (!std::getline(file, boot_id) || ::stat("/proc/self/ns/net", &space) != 0) return 0;
  std::uint64_t hash = fnv1a(as_bytes(boot_id), 0xcbf29ce484222325ULL);
  hash = fnv1a(bytes_of(space.st_dev), hash);
  return fnv1a(bytes_of(space.st_ino), hash);
}

Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<bool> chosen(all.size(), false);
  for (const std::string& name : names) {
    const auto network = parse_network(name);
    if (!network && name.find('/') != std::string::npos) {
      return fail(Errc::kInvalid, "LIVEBTL_TCP_IF: '" + name +
                                      "' is not a network such as 10.0.0.0/8 or fd00::/64");
    }
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!fits(all[i], name, network)) continue;
      chosen[i] = any = true;
    }
    if (!any) {
      return fail(Errc::kUnreachable,
                  "LIVEBTL_TCP_IF: '" + name +
                      "' fits no address of an interface that is up; there are: " + list_text(all));
    }
  }
  std::vector<LocalAddress> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) result.push_back(all[i]);
  }
  return result;
}

std::vector<SocketAddress> order_candidates(const Reachable& own,
                                            const std::vector<LocalAddress>& local,
                                            const Reachable& peer) {
  const bool one_network = own.network != 0 && same_network(own, peer);
  std::vector<std::pair<int, SocketAddress>> ranked;
  for (const SocketAddress& candidate : peer.sockets) {
    const int place = rank(candidate, one_network, local);
    if (place != kNotReachable) ranked.emplace_back(place, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<SocketAddress> result;
  result.reserve(ranked.size());
  for (const auto& [place, candidate] : ranked) result.push_back(candidate);
  return result;
}

}  // namespace livebtl::tcp
