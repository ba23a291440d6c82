// SPDX-License-Identifier: BSD-3-Clause
// core/engine/core.h -- the parts of one engine, wired together: each is given in its constructor
// the parts that it calls, and reaches no others. For the engine's own files alone.
//
// Threads: Guard takes the lock; everything else is used under it.
#pragma once

#include <utility>

#include "core/bml/bml.h"
#include "core/engine/biased_lock.h"
#include "core/engine/context.h"
#include "core/lane/boxes.h"
#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"
#include "core/switch/hold.h"
#include "core/switch/returning.h"
#include "core/switch/switching.h"

namespace livebtl::core {

struct Core {
  Core(EngineConfig config, BiasedLock::EntryWatch* watch)
      : context(std::move(config)),
        lock(watch),
        boxes(context, sender),
        sender(context, transfers, boxes, bml),
        transfers(context, sender, receiver, onesided, ports, bml),
        onesided(context, sender, transfers, ports, bml),
        receiver(context, sender, transfers, onesided, ports, boxes, bml),
        bml({context, sender, receiver, transfers, onesided, ports, boxes, switching, returning,
             hold}),
        switching(
            {context, bml.slots, bml.peers, bml.elector, bml.dialler, bml.losses, returning, hold}),
        returning({context, bml.slots, bml.peers, bml.elector, bml.dialler, switching, hold}),
        hold(context, bml.peers, bml.elector, bml.losses, switching) {}

  Context context;
  BiasedLock lock;

  Boxes boxes;
  Sender sender;
  Transfers transfers;
  OneSided onesided;
  Receiver receiver;
  PortTable ports;
  Bml bml;
  Switching switching;
  Returning returning;
  Hold hold;
};

/// Holds the engine's lock for a scope.
class Guard {
 public:
  explicit Guard(Core& core, BiasedLock::Caller caller = BiasedLock::Caller::kApplication) noexcept
      : lock_(core.lock) {
    lock_.lock(caller);
  }
  /// The caller holds it already, by try_lock().
  Guard(Core& core, std::adopt_lock_t /*locked*/) noexcept : lock_(core.lock) {}
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  BiasedLock& lock_;
};

}  // namespace livebtl::core
