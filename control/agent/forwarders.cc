// SPDX-License-Identifier: BSD-3-Clause
// control/agent/forwarders.cc -- see forwarders.h.
#include "control/agent/forwarders.h"

#include <algorithm>

namespace livebtl::control {

ZmqSocket* Forwarders::to(const std::string& endpoint, zmq::context_t& context,
                          const Secret& secret) {
  auto found = sockets_.find(endpoint);
  if (found == sockets_.end()) {
    if (sockets_.size() == count_max_) {
      const auto older = [](const auto& a, const auto& b) { return a.second.used < b.second.used; };
      sockets_.erase(std::min_element(sockets_.begin(), sockets_.end(), older));
    }
    auto socket = ZmqSocket::connect(context, endpoint, secret);
    if (!socket) return nullptr;
    found = sockets_.emplace(endpoint, Forwarder{std::move(*socket)}).first;
  }
  found->second.used = ++uses_;
  return &found->second.socket;
}

void Forwarders::close_idle(TimeNs now) {
  if (now < due_at_) return;
  due_at_ = now + kIdle;
  std::erase_if(sockets_, [&](const auto& entry) { return entry.second.used <= uses_before_; });
  uses_before_ = uses_;
}

}  // namespace livebtl::control
