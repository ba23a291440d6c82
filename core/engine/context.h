// SPDX-License-Identifier: BSD-3-Clause
// core/engine/context.h -- what every part of one engine may look at: its configuration, the time,
// the incarnation of the job, and the signal that brings news to the control plane. Values; the
// parts themselves reach each other by the references given to their constructors.
//
// Threads: under the engine's lock. Ownership: Core owns it, and it outlives all parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "base/random.h"
#include "core/engine/config.h"
#include "core/switch/fence.h"
#include "livebtl/engine.h"

namespace livebtl::core {

/// Events for the user, until a thread calls in. If none does, the oldest give way, except deaths,
/// of which there is one per peer: a user that waits for any peer learns of them only here.
class EventQueue {
 public:
  void push(EngineEvent event) {
    if (event.kind == EngineEvent::Kind::kPeerLost)
      ++deaths_;
    else if (events_.size() - deaths_ == kEventsMax)
      events_.erase(std::find_if(events_.begin(), events_.end(), [](const EngineEvent& each) {
        return each.kind != EngineEvent::Kind::kPeerLost;
      }));
    events_.push_back(std::move(event));
  }
  std::deque<EngineEvent> take() noexcept {
    deaths_ = 0;
    return std::exchange(events_, {});
  }
  bool empty() const noexcept { return events_.empty(); }

 private:
  static constexpr std::size_t kEventsMax = 256;
  std::deque<EngineEvent> events_;
  std::size_t deaths_ = 0;  // how many of them are deaths
};

struct Context {
  explicit Context(EngineConfig engine_config)
      : config(std::move(engine_config)), random(config.seed), node(node_name(config.node)) {}

  /// Something that users of Admin look at has changed (Admin::on_report).
  void notify_control() const {
    if (control_signal) control_signal();
  }

  const EngineConfig config;
  Random random;
  const std::string node;  // node_name() of this process
  Fence fence;
  EventQueue events;
  TimeNs now = 0;  // read at each housekeeping; fresh enough for deadlines of milliseconds
  std::function<void()> control_signal;
};

}  // namespace livebtl::core
