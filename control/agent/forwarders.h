// SPDX-License-Identifier: BSD-3-Clause
// control/agent/forwarders.h -- the sockets by which a member writes to others: opened when first needed,
// closed when idle.
//
// One bounded set serves one purpose, so that no purpose takes the sockets of another. Threads: the
// agent's alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "control/wire/zmq_socket.h"

namespace livebtl::control {

class Forwarders {
 public:
  /// A socket unused for this long (at most twice as long) is closed. Longer than the
  /// lease of a watch: what a member tells unasked finds its way back by the socket that brought
  /// the question.
  static constexpr TimeNs kIdle = 90 * kSecond;

  /// count_max > 0: beyond it the socket that was unused for longest makes room.
  explicit Forwarders(std::size_t count_max) : count_max_(count_max) {}

  /// nullptr: it cannot be opened. Valid until the next call that is not const.
  ZmqSocket* to(const std::string& endpoint, zmq::context_t& context, const Secret& secret) {
    auto found = sockets_.find(endpoint);
    if (found == sockets_.end()) {
      if (sockets_.size() == count_max_) {
        const auto older = [](const auto& a, const auto& b) {
          return a.second.used < b.second.used;
        };
        sockets_.erase(std::min_element(sockets_.begin(), sockets_.end(), older));
      }
      auto socket = ZmqSocket::connect(context, endpoint, secret);
      if (!socket) return nullptr;
      found = sockets_.emplace(endpoint, Forwarder{std::move(*socket)}).first;
    }
    found->second.used = ++uses_;
    return &found->second.socket;
  }
  /// In each turn of the agent.
  void close_idle(TimeNs now) {
    if (now < due_at_) return;
    due_at_ = now + kIdle;
    std::erase_if(sockets_, [&](const auto& entry) { return entry.second.used <= uses_before_; });
    uses_before_ = uses_;
  }
  /// When close_idle() wants to be called; INT64_MAX: there is nothing to close.
  TimeNs due_at() const noexcept { return sockets_.empty() ? INT64_MAX : due_at_; }
  void close_all() { sockets_.clear(); }

  template <class Visit>
  void each(const Visit& visit) {
    for (auto& [endpoint, forwarder] : sockets_) visit(forwarder.socket);
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& [endpoint, forwarder] : sockets_) visit(forwarder.socket);
  }

 private:
  struct Forwarder {
    ZmqSocket socket;
    std::uint64_t used = 0;
  };
  std::size_t count_max_;
  std::map<std::string, Forwarder> sockets_;  // by endpoint
  std::uint64_t uses_ = 0;
  std::uint64_t uses_before_ = 0;  // when close_idle() last looked
  TimeNs due_at_ = 0;
};

}  // namespace livebtl::control
