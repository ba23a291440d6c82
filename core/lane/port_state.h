// SPDX-License-Identifier: BSD-3-Clause
// core/lane/port_state.h -- what the lanes know about a port: its matcher and open operations; and
// the table by which frames find it. The public half is core/engine/ports.h.
//
// Threads: under the engine's lock. Ownership: a port belongs to the user, removes itself from the
// table, and owns its pending active messages.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "core/lane/match.h"
#include "livebtl/engine.h"

namespace livebtl::core {

struct PortState {
  struct FlushWait {
    Operation* operation = nullptr;
    Peer* peer = nullptr;      // null: all peers
    std::uint64_t number = 0;  // one-sided operations up to this one
  };
  struct PendingActive {
    Peer* peer = nullptr;
    ActiveMessage message;
    Blob payload;
  };

  PortState(PortNumber number, const PortOptions& port_options)
      : id(number), options(port_options), handlers(256) {}

  bool is_full(std::uint32_t operations_max) const noexcept {
    return open_operations >= operations_max && !options.waits_in_operations;
  }
  void tell_remote_access(const RemoteAccess& access) const noexcept {
    if (remote_access != nullptr) remote_access(remote_access_user, access);
  }

  const PortNumber id;
  const PortOptions options;
  Matcher matcher;
  // Accepted sends, puts, gets, atomics and flushes that are not complete.
  std::uint32_t open_operations = 0;
  Operation* one_sided_first = nullptr;  // open ones, in order of acceptance
  Operation* one_sided_last = nullptr;
  std::uint64_t one_sided_number = 0;
  std::vector<FlushWait> flush_waits;
  std::vector<ActiveHandler> handlers;  // [256]
  std::deque<PendingActive> pending_active;
  RemoteAccessHandler remote_access = nullptr;
  void* remote_access_user = nullptr;
};

class PortTable {
 public:
  /// A number that no port has. Not reused while there are fresh ones: a late frame must not find a
  /// new port under an old number. Errors: kLimit.
  Result<PortNumber> free_number();
  void add(PortState& port) { table_[port.id] = &port; }
  void remove(PortState& port) noexcept;
  PortState* find(PortNumber number) noexcept {
    return number < table_.size() ? table_[number] : nullptr;
  }

  /// Visits the first `most` posted receives of all ports.
  template <class Visit>
  void for_each_receive(std::size_t most, Visit visit) const {
    for (const PortState* port : table_) {
      if (port != nullptr) most -= port->matcher.for_each_posted(most, visit);
    }
  }

  /// Visits all ports' unexpected messages.
  template <class Visit>
  void for_each_unexpected(Visit visit) {
    for (PortState* port : table_) {
      if (port != nullptr) port->matcher.for_each_unexpected(visit);
    }
  }

  void add_active(PortState& port, PortState::PendingActive message);
  bool active_waiting() const noexcept { return active_waiting_ != 0; }
  /// A waiting active message of any port, and its handler; nullopt: none waits.
  std::optional<std::pair<PortState::PendingActive, ActiveHandler>> take_active();

  /// Does a receive wait that takes messages of one peer only: of this one, or of any?
  bool waits_for(const Peer& peer) const noexcept;
  bool waits_for_one() const noexcept;
  /// Ends the receives that only this lost peer could have satisfied.
  void fail_directed(Peer& peer) noexcept;

 private:
  std::vector<PortState*> table_;
  std::size_t active_waiting_ = 0;
  std::size_t active_turn_ = 0;  // where take_active() looks first, modulo the table's size
};

}  // namespace livebtl::core
