// SPDX-License-Identifier: BSD-3-Clause
// control/wire/zmq_watch.cc -- see zmq_watch.h. Exceptions of cppzmq end here.
#include "control/wire/zmq_watch.h"

#include <cerrno>
#include <cstring>

namespace livebtl::control {
namespace {

constexpr const char* kEvents = "inproc://connection-watch";
constexpr int kKinds = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_RETRIED |
                       ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                       ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

struct Event {
  std::uint16_t kind = 0;
  std::uint32_t value = 0;
};

/// Two frames: kind and value, and then an address, which nobody needs. nullopt: there is no event.
std::optional<Event> next_event(zmq::socket_t& events) {
  zmq::message_t facts, address;
  if (!events.recv(facts, zmq::recv_flags::dontwait)) return std::nullopt;
  if (facts.more() && !events.recv(address, zmq::recv_flags::dontwait)) return std::nullopt;
  Event event;
  if (facts.size() < sizeof event.kind + sizeof event.value) return event;
  std::memcpy(&event.kind, facts.data(), sizeof event.kind);
  std::memcpy(&event.value, facts.data<char>() + sizeof event.kind, sizeof event.value);
  return event;
}

}  // namespace

Result<ConnectionWatch> ConnectionWatch::begin(zmq::context_t& context, ZmqSocket& socket) try {
  void* watched = socket.handle();
  if (::zmq_socket_monitor(watched, kEvents, kKinds) != 0) throw zmq::error_t();
  zmq::socket_t events(context, zmq::socket_type::pair);
  events.set(zmq::sockopt::linger, 0);
  events.connect(kEvents);
  return ConnectionWatch(watched, std::move(events));
} catch (const zmq::error_t& error) {
  return fail(Errc::kSystem, std::string("cannot watch a connection: ") + error.what());
}

ConnectionWatch::ConnectionWatch(ConnectionWatch&& other) noexcept
    : watched_(std::exchange(other.watched_, nullptr)),
      events_(std::move(other.events_)),
      failures_(other.failures_),
      connected_(other.connected_),
      turned_away_(other.turned_away_),
      welcomed_(other.welcomed_) {}

/// The monitor is stopped first: without a reader the watched socket would block.
ConnectionWatch::~ConnectionWatch() {
  if (watched_ != nullptr) ::zmq_socket_monitor(watched_, nullptr, 0);
}

void ConnectionWatch::look() try {
  while (const auto event = next_event(events_)) {
    const bool failed = event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
    const bool hung_up = failed && (event->value == EPIPE || event->value == ECONNRESET);
    failures_ += event->kind == ZMQ_EVENT_CONNECT_RETRIED ? 1 : 0;
    connected_ = connected_ || event->kind == ZMQ_EVENT_CONNECTED;
    welcomed_ = welcomed_ || event->kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    turned_away_ = turned_away_ || hung_up || event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ||
                   event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  }
} catch (const zmq::error_t&) {
  return;  // nothing more is known
}

}  // namespace livebtl::control
