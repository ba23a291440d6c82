// SPDX-License-Identifier: BSD-3-Clause
// control/relay_address.cc -- see relay_address.h.
#include "control/relay_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "control/route.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kScheme = "tcp://";
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kHostAddressesMax = 4;
constexpr const char* kTakes =
    "it takes HOST:PORT, as in node7:40123, 10.1.0.7:40123 or [fd00::7]:40123";

bool is_name(std::string_view host) noexcept {
  return !host.empty() && host.size() <= kHostBytesMax && host.front() != '-' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '-' || c == '_';
         });
}

/// "fd00::7", "fe80::7%eth0".
bool is_ipv6(std::string_view host) {
  const auto scope = host.find('%');
  if (scope != std::string_view::npos && !is_name(host.substr(scope + 1))) return false;
  std::array<std::uint8_t, 16> bytes{};
  return ::inet_pton(AF_INET6, std::string(host.substr(0, scope)).c_str(), bytes.data()) == 1;
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || rest != end || port == 0) return std::nullopt;
  return port;
}

std::optional<std::string> endpoint_of(const addrinfo& entry, std::uint16_t port) {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(entry.ai_addr, entry.ai_addrlen, host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return std::nullopt;
  }
  const std::string text =
      entry.ai_family == AF_INET6 ? "[" + std::string(host.data()) + "]" : host.data();
  return std::string(kScheme) + text + ":" + std::to_string(port);
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(Errc::kInvalid, kTakes);
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || !(bracketed ? is_ipv6(host) : is_name(host))) return fail(Errc::kInvalid, kTakes);
  return HostPort{std::string(host), *port};
}

Result<std::string> relay_at(const HostPort& where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(where.host.c_str(), nullptr, &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  if (error != 0) {
    return fail(Errc::kUnreachable, "there is no host " + where.host + ": " +
                                        ::gai_strerror(error) +
                                        "; `btlctl jobs` on a node of the "
                                        "job shows its address");
  }
  std::vector<std::string> endpoints;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    const auto endpoint = endpoint_of(*entry, where.port);
    const bool known = std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end();
    if (endpoint && !known && endpoints.size() < kHostAddressesMax) endpoints.push_back(*endpoint);
  }
  std::string relay;
  for (const std::string& each : endpoints) relay += (relay.empty() ? "" : ",") + each;
  if (valid_relay(relay)) return relay;
  return fail(Errc::kUnreachable, where.host + " has no address of IPv4 or IPv6");
}

std::vector<std::string> host_ports(std::string_view relay) {
  std::vector<std::string> list;
  if (!valid_relay(relay)) return list;
  for (const std::string& endpoint : relay_endpoints(relay)) {
    list.push_back(endpoint.substr(kScheme.size()));
  }
  return list;
}

}  // namespace livebtl::control
