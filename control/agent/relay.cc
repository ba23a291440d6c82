// SPDX-License-Identifier: BSD-3-Clause
// control/agent/relay.cc -- see relay.h.
#include "control/agent/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "base/log.h"
#include "control/place/fork_watch.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kAddressesMax = 4;

struct HostAddress {
  std::string interface;
  std::string text;
  int family = AF_INET;
  std::array<std::uint8_t, 16> bytes{};
  bool loopback = false;
};

std::optional<HostAddress> read_address(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return std::nullopt;
  HostAddress address;
  address.interface = entry.ifa_name;
  address.family = entry.ifa_addr->sa_family;
  address.loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, entry.ifa_addr, sizeof in);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
  } else if (address.family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, entry.ifa_addr, sizeof in);
    if (IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr)) return std::nullopt;
    std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  } else {
    return std::nullopt;
  }
  ::inet_ntop(address.family, address.bytes.data(), text.data(), text.size());
  address.text = address.family == AF_INET6 ? "[" + std::string(text.data()) + "]" : text.data();
  return address;
}

std::vector<HostAddress> host_addresses() {
  std::vector<HostAddress> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (auto address = read_address(*entry)) addresses.push_back(std::move(*address));
  }
  std::stable_sort(addresses.begin(), addresses.end(), [](const auto& a, const auto& b) {
    return std::pair(a.loopback, a.family) < std::pair(b.loopback, b.family);
  });
  return addresses;
}

/// wanted: "10.1.0.0/16", "fd00::/8".
bool in_network(const HostAddress& address, const std::string& wanted) {
  const auto slash = wanted.find('/');
  if (slash == std::string::npos) return false;
  std::array<std::uint8_t, 16> network{};
  const std::string base = wanted.substr(0, slash);
  if (::inet_pton(address.family, base.c_str(), network.data()) != 1) return false;
  unsigned bits = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [rest, error] = std::from_chars(wanted.data() + slash + 1, end, bits);
  const unsigned bits_max = address.family == AF_INET ? 32 : 128;
  if (error != std::errc{} || rest != end || bits > bits_max) return false;
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned mask = 0x80u >> (i % 8);
    if (((network[i / 8] ^ address.bytes[i / 8]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> relay_addresses(const std::vector<std::string>& wanted) {
  const std::vector<HostAddress> all = host_addresses();
  const bool only_loopback =
      std::all_of(all.begin(), all.end(), [](const auto& each) { return each.loopback; });
  std::vector<std::string> chosen;
  for (const HostAddress& address : all) {
    const bool named = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& each) {
      return each == address.interface || in_network(address, each);
    });
    const bool by_default = wanted.empty() && (!address.loopback || only_loopback);
    if ((named || by_default) && chosen.size() < kAddressesMax) chosen.push_back(address.text);
  }
  return chosen;
}

RelayDuty::RelayDuty(const JobFacts& job) {
  const std::string path = job.directory + "/relay-" + process_name(ProcessId{job.node}) + ".lock";
  lock_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_) {
    log(LogLevel::kWarn, "agent", "cannot open %s: %s; other nodes cannot reach this one",
        path.c_str(), std::strerror(errno));
    return;
  }
  close_in_child(lock_.number());
  notify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!notify_ || ::inotify_add_watch(notify_.number(), path.c_str(), IN_CLOSE_WRITE) < 0) {
    log(LogLevel::kInfo, "agent", "no inotify (%s): this member will not take over as a relay",
        std::strerror(errno));
    notify_.reset();
  }
}

RelayDuty::~RelayDuty() {
  if (lock_) forget_in_child(lock_.number());
}

bool RelayDuty::take() noexcept { return lock_ && take_lock(lock_.number()); }

bool RelayDuty::may_be_free() noexcept {
  if (!notify_) return false;
  alignas(inotify_event) std::array<char, 4096> events;
  bool any = false;
  while (::read(notify_.number(), events.data(), events.size()) > 0) any = true;
  return any;
}

}  // namespace livebtl::control
