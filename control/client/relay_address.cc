// SPDX-License-Identifier: BSD-3-Clause
// control/client/relay_address.cc -- see relay_address.h.
#include "control/client/relay_address.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "base/interfaces.h"
#include "base/text.h"
#include "control/place/signals.h"
#include "control/wire/route.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kScheme = "tcp://";
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kHostAddressesMax = 4;
constexpr const char* kTakes =
    "it takes HOST:PORT, as in node7:40123, 10.1.0.7:40123 or [fd00::7]:40123";

bool is_name(std::string_view host) noexcept {
  return is_plain_name(host) && host.size() <= kHostBytesMax && host.front() != '-';
}

/// "fd00::7", "fe80::7%eth0".
bool is_ipv6(std::string_view host) {
  const auto scope = host.find('%');
  if (scope != std::string_view::npos && !is_name(host.substr(scope + 1))) return false;
  std::array<std::uint8_t, 16> bytes{};
  return ::inet_pton(AF_INET6, std::string(host.substr(0, scope)).c_str(), bytes.data()) == 1;
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

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
struct LookedUp {
  int error = EAI_AGAIN;
  Addresses addresses{nullptr, &::freeaddrinfo};
};

/// A look-up cannot be cancelled, so it has a thread of its own, which is left behind if it takes
/// too long. nullopt: the deadline has passed, or the user has interrupted.
std::optional<LookedUp> look_up_until(const std::string& host, const Deadline& deadline,
                                      LookUp look_up) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  std::packaged_task<LookedUp()> task([host, look_up = std::move(look_up)] {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    LookedUp found;
    found.error = look_up(host.c_str(), nullptr, &hints, &list);
    found.addresses.reset(list);
    return found;
  });
  auto found = task.get_future();
  {
    const AllSignalsBlocked blocked;
    std::thread(std::move(task)).detach();
  }
  while (found.wait_for(kLook) != std::future_status::ready) {
    if (deadline.stopped() || monotonic_now() >= deadline.at) return std::nullopt;
  }
  return found.get();
}

struct Knock {
  Fd fd;  // of a connection attempt; none: it could not even begin
  bool refused = false;
};

Knock knock_at(const std::string& endpoint) {
  const auto place = parse_host_port(std::string_view(endpoint).substr(kScheme.size()));
  if (!place) return {};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(place->host.c_str(), std::to_string(place->port).c_str(), &hints, &list) != 0)
    return {};
  const Addresses owner(list, &::freeaddrinfo);
  Knock knock{Fd(::socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))};
  knock.refused = knock.fd && ::connect(knock.fd.number(), list->ai_addr, list->ai_addrlen) != 0 &&
                  errno == ECONNREFUSED;
  return knock;
}

bool is_refused(const Knock& knock, TimeNs timeout) {
  if (knock.refused || !knock.fd) return knock.refused;
  pollfd ready{knock.fd.number(), POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(timeout / kMillisecond)) != 1) return false;
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(knock.fd.number(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  return error == ECONNREFUSED;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail(Errc::kInvalid, kTakes);
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (port == 0 || !(bracketed ? is_ipv6(host) : is_name(host)))
    return fail(Errc::kInvalid, kTakes);
  return HostPort{std::string(host), port};
}

Result<std::string> relay_at(const HostPort& where, const Deadline& deadline, LookUp look_up) {
  const auto found = look_up_until(where.host, deadline, std::move(look_up));
  if (!found && deadline.stopped()) {
    return fail(Errc::kCancelled, "interrupted; nothing was changed");
  }
  if (!found) {
    return fail(Errc::kUnreachable,
                "the name " + where.host +
                    " was not found within the time-out: no name server answers; give an address, "
                    "as `btlctl jobs` on a node of the job shows it");
  }
  if (found->error != 0) {
    return fail(Errc::kUnreachable, "there is no host " + where.host + ": " +
                                        ::gai_strerror(found->error) +
                                        "; `btlctl jobs` on a node of the "
                                        "job shows its address");
  }
  std::vector<std::string> endpoints;
  const addrinfo* entry = found->addresses.get();
  for (; entry != nullptr; entry = entry->ai_next) {
    const auto endpoint = endpoint_of(*entry, where.port);
    const bool known = std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end();
    if (endpoint && !known && endpoints.size() < kHostAddressesMax) endpoints.push_back(*endpoint);
  }
  std::string relay;
  for (const std::string& each : endpoints) relay += (relay.empty() ? "" : ",") + each;
  if (valid_relay(relay)) return relay;
  return fail(Errc::kUnreachable, where.host + " has no address of IPv4 or IPv6");
}

bool all_refuse(std::string_view relay, TimeNs timeout) {
  if (!valid_relay(relay)) return false;
  std::vector<Knock> knocks;
  for (const std::string& endpoint : relay_endpoints(relay)) knocks.push_back(knock_at(endpoint));
  const TimeNs deadline = monotonic_now() + timeout;
  return std::all_of(knocks.begin(), knocks.end(), [deadline](const Knock& knock) {
    return is_refused(knock, std::max<TimeNs>(deadline - monotonic_now(), 0));
  });
}

Result<std::string> parse_relay(std::string_view text) {
  std::string relay;
  bool addresses = true;
  for (const std::string& each : relay_endpoints(text)) {
    const auto place = parse_host_port(each);
    addresses = addresses && place && parse_ip(place->host);
    relay += (relay.empty() ? "" : ",") + std::string(kScheme) + each;
  }
  if (addresses && valid_relay(relay)) return relay;
  return fail(
      Errc::kInvalid,
      "it takes ADDRESS:PORT, as in 10.1.0.7:40123 or [fd00::7]:40123; several addresses of "
      "one relay with commas");
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
