// SPDX-License-Identifier: BSD-3-Clause
// core/switch/switching.h -- carries out rung orders: what each rung means for the transports and
// the pairs of this process.
//
// Threads: under the engine's lock. Rules: docs/SWITCH.md. The ladder itself (who may order what)
// is the control plane's.
#pragma once

#include <string>
#include <vector>

#include "core/engine/admin.h"
#include "core/engine/parts.h"
#include "core/switch/released.h"
#include "core/switch/routing.h"
#include "livebtl/result.h"

namespace livebtl::core {

class Switching {
 public:
  /// The parts that a switch moves. All outlive it.
  struct Parts {
    Context& context;
    Slots& slots;
    Peers& peers;
    Elector& elector;
    Dialler& dialler;
    Losses& losses;
    Returning& returning;
    const Hold& hold;
  };
  explicit Switching(const Parts& parts);

  void order(const RungOrder& order);
  /// Adopts the standing of the job, before any transport is open.
  void adopt(const RungOrder& standing);
  /// Checks whether the ordered rung is reached, and helps it along. Cheap when at rest.
  void tick() noexcept {
    if (at_work()) [[unlikely]]
      look();
  }

  const RungReport& report() const noexcept { return report_; }
  /// Routing for new sends.
  const Routing& in_force() const noexcept {
    return order_.rung >= Rung::kNewTx ? order_.after : order_.before;
  }
  /// May a path on this transport be opened by a peer now?
  bool accepts(const std::string& transport) const noexcept;
  bool at_work() const noexcept { return !report_.reached && report_.refusal.empty(); }
  /// No ladder stands between its ends.
  bool at_rest() const noexcept {
    return !at_work() && (order_.rung == Rung::kOld || order_.rung == Rung::kNew);
  }
  RoutingPlan plan(const Routing& routing) const;
  /// Devices whose holders the ladder at work has to look for: without the engine's lock, as that
  /// takes milliseconds. Empty: none, or not yet.
  Wanted to_look_for() const;
  /// When to_look_for() has something next.
  TimeNs look_due_at() const noexcept { return unreleased_.empty() ? kNoDeadline : look_again_at_; }
  /// The result of that look; ignored if it belongs to another order than the one at work.
  void looked(std::uint64_t operation, std::vector<std::string> holders);
  /// What to look for when somebody asks at rest: all transports that are out of use here.
  Wanted out_of_use() const;
  void found(const Wanted& wanted, std::vector<std::string> holders);
  /// The routing for new sends, for this process as a whole.
  RoutingView own() const { return own(in_force()); }

 private:
  RoutingView own(const Routing& routing) const;
  void look() noexcept;
  bool may_rise(Rung from);
  bool adds(const std::string& transport) const;
  bool adds() const;  // anything
  std::vector<std::string> would_be_cut_off_by(const Routing& routing) const;
  bool refuse_if_cut_off();
  bool open_added();
  Status open(TransportSlot& slot);
  void close_dropped() noexcept;
  void close_unwanted(const Routing& routing) noexcept;
  void begin_release() noexcept;
  void close_for_good(TransportSlot& slot);
  Holdings wanted(const TransportSlot& slot) const;
  void close_moved_pairs() noexcept;
  bool pair_ready(Peer& peer) noexcept;
  void keep_pairs(const RungReport& counted) noexcept;
  void count_left(const Peer& peer, const std::string& then) noexcept;
  bool would_be_cut_off(const Peer& peer) const;
  bool opened(Peer& peer, const std::string& wanted) noexcept;
  bool emptied(Peer& peer, const std::string& wanted) noexcept;
  void refuse(std::string text);
  /// what: for people. Returns false: the rung is not reached.
  bool wait_for(const Peer& peer, const char* what);

  const Parts parts_;
  Context& context_;
  RungOrder order_;
  RungReport report_;
  bool descending_ = false;  // the last order went down
  // Names of transports that the last order took out of use, and that others may still hold. A
  // process that is about to end has until release_deadline_.
  std::vector<std::string> unreleased_;
  TimeNs look_again_at_ = 0;
  TimeNs release_deadline_ = 0;
};

}  // namespace livebtl::core
