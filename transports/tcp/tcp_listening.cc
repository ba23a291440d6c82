// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_listening.cc -- where a TcpTransport listens, and what it tells peers about
// that (see tcp_transport.h). Under the engine's lock.
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "transports/tcp/tcp_transport.h"

namespace livebtl::tcp {
namespace {

constexpr TimeNs kListenAgain = 250 * kMillisecond;

}  // namespace

/// If no port is set: on `wish` if that is free.
Status TcpTransport::listen(const IpBytes& ip, std::uint16_t wish) {
  if (port_ == 0 && wish != 0 && arrivals_.listen(ip, wish)) return {};
  return arrivals_.listen(ip, port_);
}

/// One socket for all addresses, or one per chosen address, on one port where that is free.
Status TcpTransport::open(std::uint16_t port_before) {
  tick_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!tick_) return fail(Errc::kNoMemory, "tcp: cannot create a timer: " + errno_text(errno));
  const auto token = shared_.poller.add(tick_.number(), EPOLLIN, *this);
  if (!token) return tl::unexpected(token.error());
  tick_token_ = *token;
  if (interfaces_.empty()) return listen(near_.value_or(IpBytes{}), port_before);
  for (std::size_t i = 0; i < std::min(local_.size(), kSocketsMax); ++i) {
    const std::uint16_t wish = i == 0 ? port_before : arrivals_.last_port();
    if (Status listening = listen(local_[i].ip, wish); !listening) return listening;
  }
  return {};
}

/// A contact does not name the node, and gives little of the network.
bool TcpTransport::is_elsewhere(const Reachable& peer) const {
  if (peer.node && *peer.node != shared_.node) return true;
  Reachable own;
  own.network = network_;
  if (!same_network(own, peer)) return true;
  const auto here = [](const std::vector<LocalAddress>& local, const SocketAddress& socket) {
    return is_loopback(socket.ip) ||
           std::ranges::find(local, socket.ip, &LocalAddress::ip) != local.end();
  };
  const auto all_here = [&](const std::vector<LocalAddress>& local) {
    return std::ranges::all_of(peer.sockets,
                               [&](const SocketAddress& socket) { return here(local, socket); });
  };
  return !all_here(local_) && !all_here(local_addresses());
}

// The port stays, so that the addresses given out before become true; it changes only if somebody
// else holds it on another interface. A dial at this moment is refused, and tried again.
bool TcpTransport::expect(Bytes address) noexcept {
  if (!near_ || lost_port_ != 0) return false;
  const auto peer = decode_address(address);
  if (!peer || !is_elsewhere(*peer)) return false;
  const std::uint16_t port = arrivals_.last_port();
  const IpBytes loopback = *std::exchange(near_, std::nullopt);
  arrivals_.close_listeners();
  Status listening = listen(IpBytes{}, port);
  if (!listening) {
    near_ = loopback;
    const Status again = listen(loopback, port);
    log(LogLevel::kError, "tcp", "peers on other nodes cannot connect%s: %s",
        again ? "" : ", nor those on this one (tried again; free the port, or raise ulimit -n)",
        listening.error().text.c_str());
    if (!again) lose_listener(port);
  }
  return lost_port_ == 0 && arrivals_.last_port() != port;
}

// The tick, so that a process that sleeps on wait_fd() listens again as well.
void TcpTransport::lose_listener(std::uint16_t port) noexcept {
  lost_port_ = port;
  listen_again_at_ = 0;
  arrivals_.pause(0);
  set_ticking(true);
}

// Only at the previous port: peers know it, and would not hear of another now.
void TcpTransport::listen_again(TimeNs now) noexcept {
  if (lost_port_ == 0 || now < listen_again_at_) return;
  listen_again_at_ = now + kListenAgain;
  const bool everywhere = arrivals_.listen(IpBytes{}, lost_port_).has_value();
  if (!everywhere && !arrivals_.listen(*near_, lost_port_)) return;
  log(LogLevel::kWarn, "tcp", "peers on %s can connect again",
      everywhere ? "all nodes" : "this node, but not those on others,");
  if (everywhere) near_.reset();
  lost_port_ = 0;
}

Reachable TcpTransport::describe_own(const std::vector<LocalAddress>& local) const {
  Reachable own;
  own.network = network_;
  own.node = shared_.node;
  own.sockets = arrivals_.listening();
  if (!interfaces_.empty()) return own;
  const SocketAddress any =
      lost_port_ != 0 ? SocketAddress{*near_, lost_port_} : own.sockets.front();
  own.sockets.clear();
  for (const LocalAddress& address : local) {
    // If it listens only on loopback: where it would, for peers that will be expected.
    const bool served = near_ || is_v4(address.ip) || !is_v4(any.ip);
    if (served && own.sockets.size() < kSocketsMax) own.sockets.push_back({address.ip, any.port});
  }
  return own;
}

Blob TcpTransport::address() const {
  // Addresses come and go, for instance when a machine migrates; those of the start are better than
  // none.
  const auto now = interfaces_.empty() ? local_addresses() : local_;
  return encode_address(describe_own(now.empty() ? local_ : now));
}

// If no interface that TCP_IF names is here, the sockets are still right if bound to an address.
void TcpTransport::relocated() noexcept {
  arrivals_.ask_ends();
  network_ = network_hash();
  if (auto now = choose_addresses(local_addresses(), interfaces_); now && !now->empty())
    local_ = std::move(*now);
}

Blob TcpTransport::contact() const { return encode_contact(describe_own(local_)); }

}  // namespace livebtl::tcp
