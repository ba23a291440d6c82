// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_events.cc -- the events that the device reports, and what they do to the
// connections and to the device (see verbs_transport.h).
#include <sys/epoll.h>

#include "base/log.h"
#include "transports/verbs/verbs_errors.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {

void VerbsTransport::take_events() noexcept {
  events_at_ = now_;
  while (calls_.take_cq_event(device_->channel()) == 0) {
  }
  ibv_async_event event{};
  while (lost_.empty() && calls_.get_async_event(device_->context(), &event) == 0) {
    on_event(event);
    calls_.ack_async_event(&event);
  }
}

void VerbsTransport::on_event(const ibv_async_event& event) noexcept {
  switch (event.event_type) {
    case IBV_EVENT_DEVICE_FATAL:
      return lose_device("it reports a fatal error, or was taken away");
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
      return lose_device("one of its queues has failed");
    case IBV_EVENT_PORT_ERR:
      if (event.element.port_num != device_->port().port) return;
      return all_down("its port is down: is the cable in, and its network interface up?");
    // A device that is removed may report only a change of its addresses.
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PORT_ACTIVE:
      if (event.element.port_num != device_->port().port) return;
      return look_at_address();
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      if (VerbsEndpoint* endpoint = find(event.element.qp->qp_num))
        endpoint->take_down({Errc::kDown, endpoint->describe() + ": its queue pair has failed"});
      return;
    default:
      return;
  }
}

// Connections live as long as the address with which they were made.
void VerbsTransport::look_at_address() noexcept {
  const OpenPort& port = device_->port();
  const auto now = look_at_port(calls_, device_->context(), port.port, port.state.gid_index);
  if (now && now->address == port.state.address) return;
  if (!now && now.error().code == Errc::kDown)
    return lose_device("it was taken away (" + now.error().text + ")");
  all_down(now ? "its address has changed" : now.error().text);
}

// why: no connection over this device works any more.
void VerbsTransport::all_down(const std::string& why) noexcept {
  const Error down{Errc::kDown, "verbs: " + device_->name() + ": " + why};
  for_each([&](VerbsEndpoint& endpoint) { endpoint.take_down(down); });
}

// Only noted, as any call may find it; progress() acts on it.
void VerbsTransport::lose_device(const std::string& why) noexcept {
  if (!lost_.empty()) return;
  lost_ = untold_ = why;
  log(LogLevel::kWarn, "verbs", "%s is lost: %s; it is opened again when it is back",
      device_->name().c_str(), why.c_str());
}

// While the device is held open, its driver may be unable to release it.
void VerbsTransport::close_device() noexcept {
  if (!device_) return;
  parked_.clear();
  unsettled_.clear();
  seen_count_ = 0;
  armed_ = false;
  unwatch(*device_);
  device_.reset();
}

// Before it is closed: a child of this process may also hold its descriptors, and they would stay
// watched.
void VerbsTransport::unwatch(const Device& device) noexcept {
  for (const int fd : {device.completion_fd(), device.event_fd()})
    ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, fd, nullptr);
}

}  // namespace livebtl::verbs
