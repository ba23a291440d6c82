// SPDX-License-Identifier: BSD-3-Clause
// control/wire/route.cc -- see route.h.
#include "control/wire/route.h"

#include <algorithm>

#include "base/text.h"
#include "control/place/job.h"
#include "control/place/member_file.h"
#include "control/wire/envelope.h"

namespace livebtl::control {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::size_t kRelayBytesMax = 256;
constexpr std::size_t kEndpointsMax = 4;
constexpr std::size_t kPeerBytesMax = 255;

bool valid_host(std::string_view host) noexcept {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return is_plain(c) || c == ':' || c == '[' || c == ']' || c == '%';
  });
}

bool valid_endpoint(std::string_view endpoint) noexcept {
  if (!endpoint.starts_with(kTcp)) return false;
  endpoint.remove_prefix(kTcp.size());
  const auto colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || !valid_host(endpoint.substr(0, colon))) return false;
  return parse_number<std::uint16_t>(endpoint.substr(colon + 1)).value_or(0) != 0;
}

}  // namespace

std::vector<std::string> relay_endpoints(std::string_view endpoints) {
  std::vector<std::string> list;
  while (list.size() <= kEndpointsMax) {
    const auto comma = endpoints.find(',');
    list.emplace_back(endpoints.substr(0, comma));
    if (comma == std::string_view::npos) break;
    endpoints.remove_prefix(comma + 1);
  }
  return list;
}

bool valid_relay(std::string_view endpoints) noexcept {
  if (endpoints.size() > kRelayBytesMax) return false;
  const auto list = relay_endpoints(endpoints);
  return list.size() <= kEndpointsMax && std::all_of(list.begin(), list.end(), valid_endpoint);
}

std::string format_route(const Route& route) {
  const std::string process = route.process == ProcessId{} ? "" : process_name(route.process);
  return route.relay.empty() ? process : route.relay + " " + process;
}

std::optional<Route> parse_route(std::string_view text) {
  Route route;
  if (const auto space = text.find(' '); space != std::string_view::npos) {
    route.relay = text.substr(0, space);
    if (!valid_relay(route.relay)) return std::nullopt;
    text.remove_prefix(space + 1);
  }
  if (text.empty()) return route;
  const auto process = parse_process_name(text, "");
  if (!process) return std::nullopt;
  route.process = *process;
  return route;
}

std::optional<std::string> push_return(const Return& from) {
  if (from.peer.size() > kPeerBytesMax) return std::nullopt;
  std::string text;
  text += static_cast<char>(from.listener);
  text += static_cast<char>(static_cast<std::uint8_t>(from.peer.size()));
  text += from.peer;
  text += from.back;
  return text.size() <= kBackBytesMax ? std::optional(text) : std::nullopt;
}

std::optional<Return> pop_return(std::string_view back) {
  if (back.size() < 2) return std::nullopt;
  Return from;
  from.listener = static_cast<std::uint8_t>(back[0]);
  const std::size_t peer_bytes = static_cast<std::uint8_t>(back[1]);
  back.remove_prefix(2);
  if (back.size() < peer_bytes) return std::nullopt;
  from.peer = back.substr(0, peer_bytes);
  from.back = back.substr(peer_bytes);
  return from;
}

}  // namespace livebtl::control
