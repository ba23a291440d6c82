// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_arrivals.cc -- see tcp_arrivals.h.
#include "transports/tcp/tcp_arrivals.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "transports/tcp/tcp_dialler.h"
#include "transports/tcp/tcp_endpoint.h"

namespace livebtl::tcp {
namespace {

constexpr int kAcceptsPerTurn = 16;
constexpr TimeNs kAcceptAgain = 100 * kMillisecond;

Fd open_spare() noexcept { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Arrivals::~Arrivals() { close_listeners(); }

void Arrivals::close_listeners() noexcept {
  for (const Listener& listener : listeners_)
    shared_.poller.remove(listener.token, listener.fd.number());
  listeners_.clear();
}

Status Arrivals::listen(const IpBytes& ip, std::uint16_t port) {
  // If few descriptors are left, the listener comes before the spare one.
  spare_.reset();
  auto fd = listen_at(ip, port, shared_.options);
  spare_ = open_spare();
  if (!fd) return tl::unexpected(fd.error());
  const auto token = shared_.poller.add(fd->number(), EPOLLIN, *this);
  if (!token) return tl::unexpected(token.error());
  const auto end = local_end(fd->number());
  listeners_.push_back({std::move(*fd), *token, end.value_or(SocketAddress{ip, port})});
  return {};
}

std::uint16_t Arrivals::last_port() const noexcept {
  return listeners_.empty() ? std::uint16_t{0} : listeners_.back().end.port;
}

std::vector<SocketAddress> Arrivals::listening() const {
  std::vector<SocketAddress> ends;
  for (const Listener& listener : listeners_) ends.push_back(listener.end);
  return ends;
}

void Arrivals::ask_ends() noexcept {
  for (Listener& listener : listeners_)
    listener.end = local_end(listener.fd.number()).value_or(listener.end);
}

void Arrivals::on_ready(Turn& turn) noexcept {
  for (const Listener& listener : listeners_) accept_from(listener, turn);
  if (!paused_ && !shared_.allowance.any(turn.now)) pause(turn.now);
}

void Arrivals::pause(TimeNs until) noexcept {
  paused_ = true;
  paused_until_ = until;
  listen_for(0);
}

// If the change fails, a listener stays watched, or is watched again by the next sweep.
void Arrivals::listen_for(std::uint32_t events) noexcept {
  for (const Listener& listener : listeners_) {
    if (!shared_.poller.change(listener.token, listener.fd.number(), events)) paused_ = true;
  }
}

void Arrivals::accept_from(const Listener& listener, Turn& turn) noexcept {
  for (int i = 0; i < kAcceptsPerTurn && shared_.allowance.any(turn.now); ++i) {
    RawAddress from;
    from.bytes = sizeof(from.storage);
    Fd fd(::accept4(listener.fd.number(), reinterpret_cast<sockaddr*>(&from.storage), &from.bytes,
                    SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      shared_.allowance.spend();
      greet(std::move(fd), from_raw(from.get()), turn);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) {
      log_unauthenticated(shared_, turn.now, "listener",
                          "no descriptor left; raise the limit (ulimit -n)");
      if (!refuse_one(listener)) pause(turn.now + kAcceptAgain);
      return;
    }
    if (errno == ENOMEM || errno == ENOBUFS) return pause(turn.now + kAcceptAgain);
    // A connection that was gone before it was accepted is no reason to stop.
    if (errno != ECONNABORTED && errno != EINTR) return;
  }
}

void Arrivals::greet(Fd fd, const std::optional<SocketAddress>& remote, Turn& turn) noexcept {
  const std::string from = remote ? to_text(*remote) : "?";
  if (arrivals_.size() + shared_.untrusted >= kUntrustedMax) {
    log_unauthenticated(shared_, turn.now, from,
                        "too many connections that have not proved who they are");
    return;
  }
  auto arrival = std::make_unique<Arrival>(*this, std::move(fd), from, turn.now + kPreambleLimitNs);
  arrival->on_ready(turn);  // mostly the preamble has come with the connection
  if (!arrival->is_over(turn.now) && arrival->watch()) arrivals_.push_back(std::move(arrival));
}

/// With no descriptor left the listener would stay readable forever. false: there was no spare
/// either.
bool Arrivals::refuse_one(const Listener& listener) noexcept {
  spare_.reset();
  Fd refused(::accept4(listener.fd.number(), nullptr, nullptr, SOCK_CLOEXEC));
  const bool starved = !refused && (errno == EMFILE || errno == ENFILE);
  refused.reset();
  spare_ = open_spare();
  return !starved;
}

void Arrivals::sweep(TimeNs now) noexcept {
  if (paused_ && !listeners_.empty() && now >= paused_until_ && shared_.allowance.any(now)) {
    paused_ = false;
    listen_for(EPOLLIN);
  }
  const auto over = [&](const std::unique_ptr<Arrival>& arrival) {
    if (!arrival->is_over(now)) return false;
    if (arrival->timed_out())
      log_unauthenticated(shared_, now, arrival->from(), "sent nothing valid in time");
    return true;
  };
  arrivals_.erase(std::remove_if(arrivals_.begin(), arrivals_.end(), over), arrivals_.end());
}

Status Arrivals::Arrival::watch() {
  const auto token = door_.shared_.poller.add(fd_.number(), EPOLLIN, *this);
  if (!token) return tl::unexpected(token.error());
  token_ = *token;
  return {};
}

void Arrivals::Arrival::on_ready(Turn& turn) noexcept {
  // Nothing beyond the preamble is read: what follows are frames, for the endpoint.
  const auto room = MutableBytes(preamble_).subspan(preamble_bytes_);
  const ssize_t count = ::recv(fd_.number(), room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return leave();  // a port scan: not worth a log line
  preamble_bytes_ += static_cast<std::size_t>(count);
  if (preamble_bytes_ < preamble_.size()) return;
  if (const auto node = decode_preamble(preamble_)) return admit(*node, turn);
  log_unauthenticated(door_.shared_, turn.now, from_, "not livebtl, or another version of it");
  leave();
}

void Arrivals::Arrival::admit(std::uint64_t peer_node, Turn& turn) noexcept {
  door_.shared_.poller.remove(std::exchange(token_, Poller::Token::kNone), fd_.number());
  ++turn.frames;  // so that the engine sees that something happened
  turn.accept->on_accept(
      std::make_unique<TcpEndpoint>(door_.shared_, std::move(fd_), from_, peer_node));
}

void Arrivals::Arrival::leave() noexcept {
  if (!fd_) return;
  door_.shared_.poller.remove(std::exchange(token_, Poller::Token::kNone), fd_.number());
  fd_.reset();
}

}  // namespace livebtl::tcp
