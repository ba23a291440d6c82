// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/mishaps.cc -- what can happen to the devices of the fake fabric (see fabric.h).
#include <unistd.h>

#include <cerrno>

#include "tests/fake_verbs/fabric.h"

namespace livebtl::fake_verbs {

void Fabric::tell(Adapter& adapter, ibv_event_type type, ibv_qp* pair) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = 1;
  if (pair != nullptr) event.element.qp = pair;
  const std::uint64_t one = 1;
  for (Context* context : adapter.contexts) {
    context->events.push_back(event);
    [[maybe_unused]] const ssize_t written = ::write(context->async.number(), &one, sizeof one);
  }
}

void Fabric::fail(Adapter& adapter) {
  const std::lock_guard lock(mutex_);
  adapter.lost_error = EIO;
  tell(adapter, IBV_EVENT_DEVICE_FATAL);
  for (Context* context : adapter.contexts) context->dead = EIO;
}

void Fabric::unplug(Adapter& adapter) {
  const std::lock_guard lock(mutex_);
  adapter.lost_error = ENODEV;
  tell(adapter, IBV_EVENT_GID_CHANGE);
}

void Fabric::plug_in(Adapter& adapter) {
  const std::lock_guard lock(mutex_);
  adapter.lost_error = 0;
}

void Fabric::set_port(Adapter& adapter, ibv_port_state state) {
  const std::lock_guard lock(mutex_);
  adapter.port_state = state;
  tell(adapter, state == IBV_PORT_ACTIVE ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

void Fabric::set_gid(Adapter& adapter, std::size_t index, const verbs::Gid& value) {
  const std::lock_guard lock(mutex_);
  adapter.gids[index].gid = value;
  tell(adapter, IBV_EVENT_GID_CHANGE);
}

void Fabric::set_lid(Adapter& adapter, std::uint16_t lid) {
  const std::lock_guard lock(mutex_);
  adapter.lid = lid;
  tell(adapter, IBV_EVENT_LID_CHANGE);
}

void Fabric::pair_fails(Adapter& adapter, std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  for (Pair* pair : pairs_) {
    if (pair->qp_num == number) {
      break_pair(*pair);
      tell(adapter, IBV_EVENT_QP_FATAL, pair);
    }
  }
}

}  // namespace livebtl::fake_verbs
