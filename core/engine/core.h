// SPDX-License-Identifier: BSD-3-Clause
// core/engine/core.h -- the parts of one engine, side by side. Each part is a class with one duty in a
// header of its own; this only lets them reach each other. engine_core.cc makes it.
#pragma once

#include <deque>
#include <utility>

#include "base/random.h"
#include "core/bml/bml.h"
#include "core/engine/biased_lock.h"
#include "core/engine/config.h"
#include "core/engine/ports.h"
#include "core/lane/onesided.h"
#include "core/lane/receive.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"
#include "core/switch/fence.h"
#include "core/switch/hold.h"
#include "core/switch/switching.h"

namespace livebtl::core {

/// Events for the user, until a thread calls in; the oldest give way when nobody does.
class EventQueue {
 public:
  void push(EngineEvent event) {
    if (events_.size() == kEventsMax) events_.pop_front();
    events_.push_back(std::move(event));
  }
  std::deque<EngineEvent> take() noexcept { return std::exchange(events_, {}); }
  bool empty() const noexcept { return events_.empty(); }

 private:
  static constexpr std::size_t kEventsMax = 256;
  std::deque<EngineEvent> events_;
};

struct Core {
  explicit Core(EngineConfig engine_config)
      : config(std::move(engine_config)),
        random(config.seed),
        sender(*this),
        transfers(*this),
        onesided(*this),
        receiver(*this),
        ports(*this),
        bml(*this),
        switching(*this),
        returning(*this),
        hold(*this) {}

  EngineConfig config;
  Random random;
  Fence fence;
  BiasedLock lock;
  EventQueue events;
  TimeNs now = 0;  // read at each housekeeping; fresh enough for deadlines of milliseconds

  Sender sender;
  Transfers transfers;
  OneSided onesided;
  Receiver receiver;
  Ports ports;
  Bml bml;
  Switching switching;
  Returning returning;
  Hold hold;
};

}  // namespace livebtl::core
