// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_core.h -- the engine: puts the parts together, guards them, and moves them.
//
// Threads: public functions take the lock if they need it. progress() on application threads,
//          agent_turn() on the agent's; the lock's holder moves everything. No thread of its own.
// The loop (progress_locked) is the table of contents: transports -> broken and wanted paths ->
// what is queued -> the switch -> the hold. When the agent sleeps, and what wakes it:
// engine_turn.cc.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/bell.h"
#include "core/engine/admin.h"
#include "core/engine/core.h"
#include "core/engine/page_writer.h"
#include "core/engine/ports.h"
#include "core/engine/presence.h"
#include "livebtl/engine.h"

namespace livebtl::core {

class EngineCore final : public Engine, public Admin, private BiasedLock::EntryWatch {
 public:
  explicit EngineCore(EngineConfig config);
  ~EngineCore() override;

  /// What open ports keep alive (the whole runtime, with the agent). Unset: nothing.
  void set_owner(std::weak_ptr<void> owner) noexcept { owner_ = std::move(owner); }
  /// Opens every transport of the configuration that peers may use now. Errors: none
  /// could be opened.
  Status open_transports();
  /// Waits until all peers have taken what was sent to them or are proved dead, but no longer than
  /// LIVEBTL_LINGER_MS, then says goodbye. Names those that it waits for. Call before destruction.
  void linger() noexcept;
  /// The same in steps, for callers that must not sleep. true: it has said goodbye, or given that
  /// up.
  bool linger_turn() noexcept;

  // Engine
  ProcessId process_id() const noexcept override { return core_.context.config.process; }
  Result<std::unique_ptr<Port>> open_port(const PortOptions& options) override;
  Result<Destination> peer(const Address& address) override;
  Address address_of(const Destination& destination) const noexcept override;
  std::size_t progress() noexcept override;
  void wait(std::int64_t timeout_ns) noexcept override;
  void leave() noexcept override;
  int add_waker(std::function<void()> signal) override;
  void remove_waker(int id) noexcept override;
  void on_event(std::function<void(const EngineEvent&)> call) override;

  // Admin
  RungReport submit(const RungOrder& order) override;
  RungReport report() override;
  void look_for_holders() override;
  RoutingPlan plan(const Routing& routing) override;
  EngineStatus status() override;
  void adopt(const RungOrder& standing) override;
  HoldReport hold(const HoldOrder& order) override;
  HoldReport end_hold(std::uint64_t id) override;
  HoldReport hold_report() override;
  HoldReport claim_hold(const HoldClaim& claim, TimeNs lease) override;
  HoldReport restore(const HoldClaim& claim, Incarnation to) override;
  void on_report(std::function<void()> signal) override;
  void publish_relay(const std::string& relay) override;
  std::vector<std::string> relays() override;
  void learn_relays(const std::vector<std::string>& relays) override;
  bool spans_nodes() const noexcept override { return core_.bml.peers.spans_nodes(); }
  bool left_behind() const noexcept override { return core_.context.fence.out(); }
  void show_on(EnginePageLatch* page) override;
  Contacts contacts() override;
  bool seeks() const noexcept override { return core_.bml.unreached.seeks(); }
  std::vector<ProcessId> unreached() override;
  void introduce(ProcessId peer, const Contacts& addresses) override;
  void proved_dead(ProcessId peer) override;
  std::int64_t agent_turn() override;
  std::vector<int> wait_fds() override;

 private:
  static constexpr std::size_t kFramesPerTurn = 64;

  template <bool kLooks>  // also looks whether the rung is reached
  std::size_t move_all(std::size_t frames_max) noexcept;
  std::size_t progress_locked(std::size_t frames_max) noexcept;
  std::size_t move_frames(std::size_t frames_max) noexcept;
  void look_for_rung() noexcept {
    core_.switching.tick();
    core_.hold.tick();
  }
  void give_back_kept() noexcept;
  void keep_time() noexcept;
  void keep_time_here() noexcept;
  void look_at_clock() noexcept;
  void on_entry() noexcept override;
  struct Lingering {
    TimeNs until = 0, tell_at = 0;
    bool hold_told = false;
    TimeNs said_by = 0;  // 0: still waiting for peers
  };
  bool waited_for_all(Lingering& lingering, TimeNs at_most) noexcept;
  void name_unsettled(bool gives_up) noexcept;
  bool say_goodbye() noexcept;
  void submitted() noexcept;
  void expect_work() noexcept;
  RungReport report_locked();
  void note_ladder() noexcept;
  void deliver_events();
  std::size_t run_active_handlers();
  bool has_wakers() noexcept;
  void wake_waiters() noexcept;
  /// What the agent finds in a turn, taken under the lock.
  struct Turn {
    std::size_t moved = 0;  // frames
    std::uint64_t operation = 0;
    Wanted to_look_for;  // once the lock is released
  };
  bool must_enter(TimeNs now) const noexcept;
  void not_away(TimeNs now) noexcept;
  bool enter_for_turn(TimeNs now) noexcept;
  Turn take_turn();
  bool wants_turn(TimeNs now) noexcept;
  std::size_t move() noexcept;
  std::size_t move_for_absent() noexcept;
  bool may_go_on(std::size_t moved) const noexcept;
  void look_between_frames() noexcept;
  bool prepare_sleep() noexcept;
  TimeNs next_due() noexcept;
  std::int64_t time_to_sleep(TimeNs now) noexcept;
  bool application_away(TimeNs now) const noexcept;
  template <class Act>
  HoldReport with_hold(Act act);
  template <class Act>
  HoldReport change_hold(Act act);
  void look_after_release(std::uint64_t operation, const Wanted& wanted);
  PeerStatus status_of(const Peer& peer) const;
  TransportStatus status_of(const TransportSlot& slot) const;
  void count_pair(const Peer& peer, const TransportSlot& slot, TransportStatus& status) const;

  mutable Core core_;
  std::weak_ptr<void> owner_;
  TimeNs housekept_ = 0;
  TimeNs unlooked_since_ = 0;  // agent's: frames have come, and no look for the rung since; 0: none
  std::uint32_t box_rounds_ = 0;  // box rounds that moved something
  std::uint32_t rounds_ = 0;      // progress calls since the clock was read
  std::uint32_t rounds_per_clock_ = 1;
  Presence presence_;
  PageWriter page_{core_};
  // Application threads in wait(). Transports' bells are for them, not for the agent; if an order
  // makes the agent move something for them all the same, it rings a bell of our own.
  std::atomic<int> waiting_{0};
  std::atomic<bool> agent_moved_{false};  // since a thread last came out of wait()
  Bell bell_;
  // This process stands between the ends of a ladder, or is held: every absence of the application
  // counts.
  std::atomic<bool> in_ladder_{false};
  // The agent may sleep until a descriptor shows work, or until due_at_. Cleared when an
  // application thread enters.
  std::atomic<bool> armed_{false};
  TimeNs due_at_ = 0;             // agent's
  TimeNs look_at_ = kNoDeadline;  // agent's: when to look for holders of what was released
  bool submitted_ = false;        // agent's: it has changed something since its last turn
  // Agent's: the pause between tries while something cannot be done and no descriptor will tell
  // when it can.
  TimeNs retry_pause_ = 0;
  std::vector<int> armed_fds_;  // agent's
  std::mutex wakers_mutex_;
  std::map<int, std::function<void()>> wakers_;
  int next_waker_ = 1;
  std::function<void(const EngineEvent&)> event_call_;
  std::optional<Lingering> lingering_;  // of the thread that gives this engine up
};

}  // namespace livebtl::core
