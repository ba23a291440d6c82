// SPDX-License-Identifier: BSD-3-Clause
// control/wire/forwarders.h -- connections over which a process writes to others: opened when first
// needed, closed when idle.
//
// Each purpose has its own bounded set, so that none takes the connections of another. Threads:
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"

namespace livebtl::control {

/// Connection: LocalLink or ZmqSocket.
template <class Connection>
class Forwarders {
 public:
  /// A connection unused for this long (at most twice as long) is closed. Longer than the lease of
  /// a watch: what a member reports unasked goes back over the connection that brought the
  /// question.
  static constexpr TimeNs kIdle = 90 * kSecond;

  /// count_max > 0: beyond it, the least recently used connection makes room.
  explicit Forwarders(std::size_t count_max) : count_max_(count_max) {}

  /// open(endpoint): Result<Connection>. nullptr: it cannot be opened. Valid until the next
  /// non-const call.
  template <class Open>
  Connection* to(const std::string& endpoint, const Open& open) {
    auto found = entries_.find(endpoint);
    if (found != entries_.end() && found->second.connection.closed()) {
      entries_.erase(found);
      found = entries_.end();
    }
    if (found == entries_.end()) {
      make_room();
      auto opened = open(endpoint);
      if (!opened) return nullptr;
      found = entries_.emplace(endpoint, Entry{std::move(*opened)}).first;
    }
    found->second.used = ++uses_;
    return &found->second.connection;
  }
  /// Call this in each turn of the owner.
  void close_idle(TimeNs now) {
    if (now < due_at_) return;
    due_at_ = now + kIdle;
    std::erase_if(entries_, [&](const auto& entry) { return entry.second.used <= uses_before_; });
    uses_before_ = uses_;
  }
  /// When close_idle() is due; INT64_MAX: there is nothing to close.
  TimeNs due_at() const noexcept { return entries_.empty() ? INT64_MAX : due_at_; }
  void close_all() { entries_.clear(); }
  void close_ended() {
    std::erase_if(entries_, [](const auto& entry) { return entry.second.connection.closed(); });
  }

  template <class Visit>
  void each(const Visit& visit) {
    for (auto& [endpoint, entry] : entries_) visit(entry.connection);
  }
  /// visit(connection, endpoint)
  template <class Visit>
  void each_named(const Visit& visit) {
    for (auto& [endpoint, entry] : entries_) visit(entry.connection, endpoint);
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& [endpoint, entry] : entries_) visit(entry.connection);
  }

 private:
  struct Entry {
    Connection connection;
    std::uint64_t used = 0;
  };
  void make_room() {
    if (entries_.size() < count_max_) return;
    const auto older = [](const auto& a, const auto& b) { return a.second.used < b.second.used; };
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), older));
  }

  std::size_t count_max_;
  std::map<std::string, Entry> entries_;  // by endpoint
  std::uint64_t uses_ = 0;
  std::uint64_t uses_before_ = 0;  // when close_idle() last looked
  TimeNs due_at_ = 0;
};

}  // namespace livebtl::control
