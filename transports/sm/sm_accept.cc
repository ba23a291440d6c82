// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_accept.cc -- the rare paths of SmTransport: dialling, unauthenticated
// connections, bells, the ends of peers.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::sm {
namespace {

constexpr std::uint64_t kListenerToken = 0;
constexpr std::size_t kUnauthenticatedMax = 64;
constexpr TimeNs kIntroductionTime = 10 * kSecond;
constexpr TimeNs kListenAgain = 100 * kMillisecond;
constexpr int kEventsMax = 32;

}  // namespace

Status SmTransport::start() {
  epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail(Errc::kNoMemory, std::string("epoll: ") + std::strerror(errno));
  auto listener = directory_.listen(socket_name(process_));
  if (!listener) return tl::unexpected<Error>(listener.error());
  listener_ = std::move(*listener);
  if (watch_descriptor(listener_.number(), kListenerToken)) return {};
  return fail(Errc::kSystem, std::string("epoll: ") + std::strerror(errno));
}

Status SmTransport::dial(SmEndpoint& endpoint) {
  auto socket = directory_.connect(socket_name(endpoint.peer()));
  if (!socket) return tl::unexpected<Error>(socket.error());
  if (!*socket) return {};  // its queue is full: retried in settle_endpoints()
  const auto pid = check_peer(*socket);
  if (!pid) return tl::unexpected<Error>(pid.error());
  auto made = Segment::make(ring_bytes_);
  if (!made) return tl::unexpected<Error>(made.error());
  Setup setup;
  setup.node = node_;
  setup.from = process_;
  setup.to = endpoint.peer();
  setup.ring_bytes = ring_bytes_;
  if (Status sent = send_setup(*socket, setup, made->memory); !sent) return sent;
  return endpoint.open({std::move(*socket), std::move(made->segment), *pid}, true);
}

// A process that wakes for another transport often sleeps again at once. So until a bell is rung
// (or anything else happens at a socket), writers are not told that we are awake: to tell them, and
// then to tell them again that we sleep, costs a barrier. The next message, of one writer or of
// several, costs a bell instead, and is found as always.
void SmTransport::turn_sockets(core::TransportSink& accept, TimeNs now) noexcept {
  std::array<epoll_event, kEventsMax> events{};
  const int count = ::epoll_wait(epoll_.number(), events.data(), kEventsMax, 0);
  if (count != 0) {
    wake();
    exposed_news_ = true;  // the bell may say that something was read
  }
  for (int i = 0; i < count; ++i)
    handle_event(events[static_cast<std::size_t>(i)].data.u64, accept, now);
  settle_endpoints(now);
}

// Tokens are numbers, never reused: an endpoint may be gone by the time its event is handled.
void SmTransport::handle_event(std::uint64_t token, core::TransportSink& accept, TimeNs now) {
  if (token == kListenerToken) return accept_unauthenticated(accept, now);
  const std::uint64_t id = token >> 1;
  const auto endpoint = std::find_if(endpoints_.begin(), endpoints_.end(),
                                     [&](const SmEndpoint* each) { return each->id() == id; });
  if (endpoint != endpoints_.end())
    return token % 2 == 1 ? (*endpoint)->peer_ended() : (*endpoint)->socket_event();
  const auto connection = std::find_if(unauthenticated_.begin(), unauthenticated_.end(),
                                       [&](const Unauthenticated& each) { return each.id == id; });
  if (connection == unauthenticated_.end()) return;
  Unauthenticated taken = std::move(*connection);
  unauthenticated_.erase(connection);
  if (introduce(taken, accept))
    unwatch(taken.socket);  // only if refused: otherwise an endpoint has taken it
  else
    unauthenticated_.push_back(std::move(taken));
}

void SmTransport::accept_unauthenticated(core::TransportSink& accept, TimeNs now) {
  for (int i = 0; i < kEventsMax; ++i) {
    Fd socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const bool starved =
          errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
      if (starved) pause_listening(errno, now);
      return;
    }
    const auto pid = check_peer(socket);
    if (!pid) {
      refuse(pid.error());
      continue;
    }
    Unauthenticated connection{next_id_++, std::move(socket), *pid, now + kIntroductionTime};
    if (introduce(connection, accept)) continue;
    if (unauthenticated_.size() == kUnauthenticatedMax) {
      unwatch(unauthenticated_.front().socket);
      unauthenticated_.erase(unauthenticated_.begin());
    }
    if (watch_descriptor(connection.socket.number(), connection.id << 1))
      unauthenticated_.push_back(std::move(connection));
    else  // nobody would hear what it says; it dials again
      refuse({Errc::kNoMemory,
              std::string("a connection cannot be watched: ") + std::strerror(errno)});
  }
}

// Pending connections would otherwise wake this process endlessly, and fill the log.
void SmTransport::pause_listening(int error, TimeNs now) noexcept {
  unwatch(listener_);
  listen_again_at_ = now + kListenAgain;
  if (!no_descriptor_logged_.allow(now)) return;
  log(LogLevel::kError, "sm", "cannot accept: %s; raise the limit of open files withheld=%llu",
      std::strerror(error), static_cast<unsigned long long>(no_descriptor_logged_.suppressed()));
}

// false: it has said nothing yet.
bool SmTransport::introduce(Unauthenticated& connection, core::TransportSink& accept) {
  auto received = receive_setup(connection.socket);
  if (!received) {
    if (received.error().code != Errc::kDown) refuse(received.error());
    return true;
  }
  if (!received->complete) return false;
  const Setup& setup = received->setup;
  if (setup.to != process_ || setup.node != node_ || setup.from == ProcessId{}) {
    refuse({Errc::kInvalid, "an sm peer wants to reach another process"});
    return true;
  }
  if (setup.ring_bytes != ring_bytes_) {
    refuse({Errc::kInvalid,
            "an sm peer has another ring size; set the same LIVEBTL_SM_RING_BYTES for all"});
    return true;
  }
  auto segment = Segment::adopt(received->memory, ring_bytes_);
  if (!segment) {
    refuse(segment.error());
    return true;
  }
  unwatch(connection.socket);
  auto endpoint = std::make_unique<SmEndpoint>(*this, next_id_++, setup.from);
  const Status opened =
      endpoint->open({std::move(connection.socket), std::move(*segment), connection.pid}, false);
  if (opened)
    accept.on_accept(std::move(endpoint));
  else
    refuse(opened.error());
  return true;
}

void SmTransport::settle_endpoints(TimeNs now) {
  std::erase_if(unauthenticated_, [&](const Unauthenticated& each) {
    if (each.deadline > now) return false;
    unwatch(each.socket);
    return true;
  });
  if (now >= listen_again_at_) {
    const bool watched = watch_descriptor(listener_.number(), kListenerToken);
    listen_again_at_ = watched ? kNoDeadline : now + kListenAgain;
  }
  // By index and from the back: going down removes an endpoint from polled_, and its sink may close
  // others.
  for (std::size_t i = polled_.size(); i-- > 0;) {
    if (i >= polled_.size()) continue;
    SmEndpoint& endpoint = *polled_[i];
    if (endpoint.dialling()) {
      if (const Status dialled = dial(endpoint); !dialled) endpoint.take_down(dialled.error());
      continue;
    }
    if (endpoint.closing()) sockets_due_ = now;  // look again in the next turn
    endpoint.settle();
  }
}

// Any process of our user can cause this: shown once, and then logged at debug level.
void SmTransport::refuse(const Error& why) {
  log(refusal_logged_ ? LogLevel::kDebug : LogLevel::kWarn, "sm", "connection refused: %s",
      why.text.c_str());
  refusal_logged_ = true;
}

void SmTransport::tell_refusal(const SmEndpoint& endpoint, int error) noexcept {
  const bool known = error == ESRCH || std::exchange(reads_refused_, true);  // ESRCH: it is dying
  log(known ? LogLevel::kDebug : LogLevel::kWarn, "sm",
      "%s: its memory could be read and now cannot (%s): large payloads are copied twice from now "
      "on",
      endpoint.describe().c_str(), std::strerror(error));
}

}  // namespace livebtl::sm
