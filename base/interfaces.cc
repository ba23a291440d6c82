// SPDX-License-Identifier: BSD-3-Clause
// base/interfaces.cc -- see interfaces.h.
#include "base/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>

namespace livebtl {
namespace {

in6_addr v6_of(const IpBytes& ip) noexcept { return std::bit_cast<in6_addr>(ip); }

IpBytes map_v4(const in_addr& v4) noexcept {
  IpBytes ip{};
  ip[10] = ip[11] = std::byte{0xff};
  std::memcpy(&ip[12], &v4, sizeof(v4));
  return ip;
}

unsigned count_prefix_bits(const sockaddr* mask, bool v4) noexcept {
  const auto ip = ip_of(mask);
  if (!ip) return 128;
  unsigned bits = v4 ? 96 : 0;
  for (std::size_t i = bits / 8; i < ip->size(); ++i) {
    bits += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>((*ip)[i])));
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

std::string list_text(const std::vector<LocalAddress>& all) {
  std::string text;
  for (const LocalAddress& address : all) {
    if (!text.empty()) text += ", ";
    text += address.interface + " " + to_text(address.ip);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

bool is_v4(const IpBytes& ip) noexcept {
  const in6_addr v6 = v6_of(ip);
  return IN6_IS_ADDR_V4MAPPED(&v6);
}

bool is_loopback(const IpBytes& ip) noexcept {
  const in6_addr v6 = v6_of(ip);
  return is_v4(ip) ? v6.s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&v6);
}

bool is_unicast(const IpBytes& ip) noexcept {
  const in6_addr v6 = v6_of(ip);
  if (is_v4(ip)) return v6.s6_addr[12] != 0 && v6.s6_addr[12] < 224;
  return !IN6_IS_ADDR_UNSPECIFIED(&v6) && !IN6_IS_ADDR_MULTICAST(&v6) &&
         !IN6_IS_ADDR_LINKLOCAL(&v6);
}

bool same_prefix(const IpBytes& one, const IpBytes& other, unsigned prefix_bits) noexcept {
  const auto whole = static_cast<std::ptrdiff_t>(prefix_bits / 8);
  if (!std::equal(one.begin(), one.begin() + whole, other.begin())) return false;
  const unsigned rest = prefix_bits % 8;
  if (rest == 0) return true;
  return ((one[prefix_bits / 8] ^ other[prefix_bits / 8]) >> (8 - rest)) == std::byte{0};
}

std::optional<IpBytes> parse_ip(const std::string& text) {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return map_v4(v4);
  IpBytes ip{};
  if (inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return ip;
  return std::nullopt;
}

std::string to_text(const IpBytes& ip) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_v4(ip);
  inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? &ip[12] : ip.data(), text.data(), text.size());
  return text.data();
}

std::optional<IpBytes> ip_of(const sockaddr* raw) noexcept {
  if (raw == nullptr) return std::nullopt;
  if (raw->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, raw, sizeof(v4));
    return map_v4(v4.sin_addr);
  }
  if (raw->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, raw, sizeof(v6));
  return std::bit_cast<IpBytes>(v6.sin6_addr);
}

std::vector<LocalAddress> local_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<LocalAddress> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const auto ip = ip_of(entry->ifa_addr);
    if (!ip || (entry->ifa_flags & IFF_UP) == 0 || !is_unicast(*ip)) continue;
    all.push_back({entry->ifa_name, *ip, count_prefix_bits(entry->ifa_netmask, is_v4(*ip))});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
    return preference(one) < preference(other);
  });
  return all;
}

bool names_address(const std::string& name, const LocalAddress& address) {
  if (address.interface == name) return true;
  const auto network = parse_network(name);
  return network && is_v4(network->ip) == is_v4(address.ip) &&
         same_prefix(address.ip, network->ip, network->prefix_bits);
}

Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::vector<std::string>& names) {
  if (names.empty()) return all;
  for (const std::string& name : names) {
    if (!parse_network(name) && name.find('/') != std::string::npos) {
      return fail(Errc::kInvalid, "LIVEBTL_TCP_IF: '" + name +
                                      "' is not a network such as 10.0.0.0/8 or fd00::/64");
    }
    if (std::ranges::none_of(all, [&](const auto& each) { return names_address(name, each); })) {
      return fail(Errc::kUnreachable,
                  "LIVEBTL_TCP_IF: '" + name +
                      "' fits no address of an interface that is up; there are: " + list_text(all));
    }
  }
  std::vector<LocalAddress> result;
  std::ranges::copy_if(all, std::back_inserter(result), [&](const LocalAddress& each) {
    return std::ranges::any_of(names, [&](const auto& name) { return names_address(name, each); });
  });
  return result;
}

}  // namespace livebtl
