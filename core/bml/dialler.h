// SPDX-License-Identifier: BSD-3-Clause
// core/bml/dialler.h -- the one place that decides which missing path is dialled, and when: order of
// preference, back-off, and which end of a pair goes first.
//
// Threads: under the engine's lock. Ownership: what it remembers of a pair is in Peer::dials.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

/// Once the back-off is this long, five dials have failed: the address may be out of date.
inline constexpr TimeNs kDialledInVain = 16 * kMillisecond;
/// The longest back-off: of a pair that has nothing to send on, and of one that is served.
inline constexpr TimeNs kRedialUnserved = 200 * kMillisecond;
inline constexpr TimeNs kRedialServed = 5 * kSecond;
/// If a pair without a send path fails to dial for this long, the user is warned.
inline constexpr TimeNs kInVainTold = 2 * kSecond;

class Dialler {
 public:
  /// The parts that a dial needs. All outlive the Dialler.
  struct Parts {
    Context& context;
    Peers& peers;
    Slots& slots;
    Elector& elector;
    Connector& connector;
    Tickets& tickets;
    Unreached& unreached;
    Losses& losses;
    const Switching& switching;
    const Returning& returning;
    const Hold& hold;
  };
  explicit Dialler(const Parts& parts) : parts_(parts), context_(parts.context) {}

  /// The next turn makes sure that a path is there or being dialled.
  void want_path(Peer& peer) noexcept;
  bool pending() const noexcept { return !wanting_.empty(); }
  /// Dials for the peers that want a path.
  void turn() noexcept;
  /// Looks at the peer again when its back-off has run out. At housekeeping.
  void keep_time(Peer& peer) noexcept;
  /// When keep_time() has something to do for this peer next.
  TimeNs due_at(const Peer& peer) const noexcept;
  /// A rung waits for this path: it is dialled now, by the lower process id first, so that dials
  /// seldom cross.
  void open_early(Peer& peer, const std::string& transport) noexcept;
  /// A path that was never open has ended.
  void on_failed(Path& path) noexcept;
  /// The pair has a send path, and no order is in progress.
  bool served(const Peer& peer) const noexcept;
  /// An order changes what may be dialled: earlier back-offs no longer count.
  void forget_failed_dials() noexcept;
  /// Nothing is dialled from now on: this process has said goodbye.
  void stop() noexcept { stopped_ = true; }

 private:
  bool dial(Peer& peer, TransportSlot& slot);
  void dial_wanted(Peer& peer) noexcept;
  void dial_equals(Peer& peer);
  void redial(Peer& peer) noexcept;
  void back_off(Peer& peer, const std::string& transport) noexcept;
  /// Messages wait for a path: tells the user why there is none.
  void note_in_vain(Peer& peer, const std::string& transport, const Error& error) noexcept;
  std::vector<std::string> to_dial(const Peer& peer) const;
  bool not_yet(const Peer& peer, const std::string& transport) const;

  const Parts parts_;
  Context& context_;
  std::vector<Peer*> wanting_;
  bool stopped_ = false;
  LogLimit in_vain_logged_{4};
};

}  // namespace livebtl::core
