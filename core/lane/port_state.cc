// SPDX-License-Identifier: BSD-3-Clause
// core/lane/port_state.cc -- see port_state.h.
#include "core/lane/port_state.h"

#include <algorithm>

#include "base/assert.h"
#include "core/lane/receive_end.h"

namespace livebtl::core {

Result<PortNumber> PortTable::free_number() {
  constexpr std::size_t kNumbersEnd = 0x10000;
  if (table_.empty()) table_.push_back(nullptr);  // port 0 is nobody's
  if (table_.size() < kNumbersEnd) {
    table_.push_back(nullptr);
    return static_cast<PortNumber>(table_.size() - 1);
  }
  const auto found = std::find(table_.begin() + 1, table_.end(), nullptr);
  if (found == table_.end())
    return fail(Errc::kLimit, "65535 ports are open in this process: close some");
  return static_cast<PortNumber>(found - table_.begin());
}

void PortTable::remove(PortState& port) noexcept {
  table_[port.id] = nullptr;
  active_waiting_ -= port.pending_active.size();
}

void PortTable::add_active(PortState& port, PortState::PendingActive message) {
  port.pending_active.push_back(std::move(message));
  ++active_waiting_;
}

std::optional<std::pair<PortState::PendingActive, ActiveHandler>> PortTable::take_active() {
  if (active_waiting_ == 0) return std::nullopt;
  // In turn: a busy port must not keep the others waiting.
  PortState* port = nullptr;
  for (std::size_t i = 0; port == nullptr && i < table_.size(); ++i) {
    PortState* const each = table_[active_turn_++ % table_.size()];
    if (each != nullptr && !each->pending_active.empty()) port = each;
  }
  LIVEBTL_ASSERT(port != nullptr, "waiting active messages are counted");
  PortState::PendingActive pending = std::move(port->pending_active.front());
  port->pending_active.pop_front();
  --active_waiting_;
  ActiveHandler handler = port->handlers[pending.message.handler];
  return std::pair(std::move(pending), std::move(handler));
}

bool PortTable::waits_for(const Peer& peer) const noexcept {
  return std::ranges::any_of(table_, [&](const PortState* port) {
    return port != nullptr && port->matcher.first_posted_from(peer) != nullptr;
  });
}

bool PortTable::waits_for_one() const noexcept {
  return std::ranges::any_of(table_, [](const PortState* port) {
    return port != nullptr && port->matcher.has_directed();
  });
}

void PortTable::fail_directed(Peer& peer) noexcept {
  for (PortState* port : table_) {
    if (port == nullptr) continue;
    while (Operation* receive = port->matcher.first_posted_from(peer)) {
      port->matcher.withdraw(*receive);
      end_withdrawn(*receive, Errc::kPeerLost);
    }
  }
}

}  // namespace livebtl::core
