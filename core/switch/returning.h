// SPDX-License-Identifier: BSD-3-Clause
// core/switch/returning.h -- transports that go out of service by themselves, and come back: a
// device that vanishes, or is not there yet.
//
// A transport is absent if the routing permits it but this process cannot use it. Peers are told so
// as if it were closed. The thread that moves the engine anyway looks for it about once a second;
// it comes back when it has been there for as long as settle.h says, or at once by order. None of
// this happens in mid-ladder: there an order decides what is used. docs/LOSSES.md.
// Threads: under the engine's lock. Owns nothing: slots and peers hold what it remembers.
#pragma once

#include <string>
#include <vector>

#include "core/engine/parts.h"
#include "core/switch/settle.h"
#include "livebtl/result.h"

namespace livebtl::core {

/// Of a transport.
struct Absence {
  std::string why;       // it is not in service though the routing permits it; empty: it is
  bool doubted = false;  // something went wrong: is what it needs still there?
  bool awaited = false;  // ordered before it was there: comes whatever LIVEBTL_RETURN says
  Settle settle;
  TimeNs look_at = 0;  // when to look for it next, while it is absent
};

class Returning {
 public:
  /// The parts that a return needs. All outlive it.
  struct Parts {
    Context& context;
    Slots& slots;
    Peers& peers;
    Elector& elector;
    const Dialler& dialler;
    const Switching& switching;
    const Hold& hold;
  };
  explicit Returning(const Parts& parts) : parts_(parts), context_(parts.context) {}

  /// Every millisecond or so; cheap where nothing is absent or doubted.
  void keep_time() noexcept;
  /// When keep_time() has something to do next.
  TimeNs due_at() const noexcept;
  /// Permitted, but cannot be opened: the transport is looked for from now on. why: for people.
  void note_missing(TransportSlot& slot, const std::string& why) noexcept;
  /// The same by order, so that it comes even where LIVEBTL_RETURN is off.
  void await(TransportSlot& slot, const std::string& why) noexcept;
  /// By order: back into service at once, with the paths that pairs have lost. Errors: not there.
  Status recall(TransportSlot& slot);
  /// It is no longer permitted: nobody looks for it.
  void forget(TransportSlot& slot) noexcept;

  /// A path that a pair used broke, though both ends may have what its transport needs.
  void note_lost(Peer& peer, const TransportSlot& slot) noexcept;
  /// The pair has such a path again.
  void note_open(Peer& peer, const TransportSlot& slot) noexcept;
  /// Until when the pair leaves that transport alone; 0: it need not.
  TimeNs settles_until(const Peer& peer, const std::string& transport) const noexcept;

  /// What is absent, and what pairs have lost, with the transport's name and a colon in front: for
  /// people, and for RungReport.
  std::vector<std::string> absent() const;

 private:
  void look_after(TransportSlot& slot) noexcept;
  bool wanted(const TransportSlot& slot) const noexcept;
  void judge(TransportSlot& slot) noexcept;
  Status look_for(TransportSlot& slot);
  void lose(TransportSlot& slot, const std::string& why) noexcept;
  void take_back(TransportSlot& slot) noexcept;
  void note_absent(TransportSlot& slot, const std::string& why) noexcept;
  std::uint32_t pairs_without(const std::string& transport) const;

  const Parts parts_;
  Context& context_;
};

}  // namespace livebtl::core
