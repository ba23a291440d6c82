// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/fake_admin.h -- an engine with three transports and no data, whose rungs
// a test can hold or refuse. Any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include "core/engine/admin.h"
#include "tests/unit/control/agent/fake_neighbours.h"
#include "tests/unit/control/agent/fake_status.h"
#include "tests/unit/control/ladder/fake_hold.h"

namespace livebtl::test {

class FakeAdmin final : public FakeNeighbours {
 public:
  explicit FakeAdmin(std::vector<std::string> transports = {"self", "sm", "tcp"})
      : transports_(std::move(transports)) {}

  core::RungReport submit(const core::RungOrder& order) override {
    const std::lock_guard guard(mutex_);
    orders_.push_back(order);
    take(order);
    return report_;
  }
  void adopt(const core::RungOrder& standing) override {
    const std::lock_guard guard(mutex_);
    adopted_ = standing;
    take(standing);
  }
  core::RungReport report() override {
    const std::lock_guard guard(mutex_);
    return report_;
  }
  void look_for_holders() override {
    const std::lock_guard guard(mutex_);
    report_.other_holders = holders_;
  }
  core::RoutingPlan plan(const core::Routing& routing) override {
    core::RoutingPlan plan;
    if (routing.excluded.contains("sm") && routing.excluded.contains("tcp")) {
      plan.cut_off = {"rank 9 on nowhere"};
    } else {
      plan.moves["sm"]["tcp"] = 1;
    }
    return plan;
  }
  core::EngineStatus status() override {
    const std::lock_guard guard(mutex_);
    core::EngineStatus status;
    status.rung = report_;
    status.hold = held.report();
    status.epoch = report_.epoch;
    status.routing = order_.rung == core::Rung::kNew ? order_.after : order_.before;
    add_fakes(status, transports_, peers, bytes_sent);
    return status;
  }
  core::HoldReport hold(const core::HoldOrder& order) override { return held.start(order); }
  core::HoldReport end_hold(std::uint64_t id) override { return held.end(id); }
  core::HoldReport claim_hold(const core::HoldClaim& claim, TimeNs lease) override {
    return held.claim(claim.hold, lease, claim.number);
  }
  core::HoldReport restore(const core::HoldClaim& claim, Incarnation to) override {
    return held.restore(claim.hold, to);
  }
  core::HoldReport hold_report() override { return held.report(); }
  FakeHold held;
  void on_report(std::function<void()> signal) override {
    const std::lock_guard guard(mutex_);
    signal_ = std::move(signal);
  }
  /// Shows one more message each time.
  void show_on(core::EnginePageLatch* page) override {
    const std::lock_guard guard(mutex_);
    if (page == nullptr) return;
    core::EnginePage& to = page->to_fill();
    to.messages_sent = ++shown_;
    page->publish();
  }
  core::Contacts contacts() override {
    const std::lock_guard guard(mutex_);
    return contacts_;
  }
  bool seeks() const noexcept override { return seeks_.load(); }
  std::vector<ProcessId> unreached() override {
    unreached_asked.fetch_add(1);
    const std::lock_guard guard(mutex_);
    if (sought_.empty()) seeks_.store(false);
    return {sought_.begin(), sought_.end()};
  }
  void introduce(ProcessId peer, const core::Contacts& addresses) override {
    const std::lock_guard guard(mutex_);
    ++answers_[peer];
    if (addresses.empty()) return;
    introduced_[peer] = addresses;
    sought_.erase(peer);
  }
  void proved_dead(ProcessId peer) override {
    const std::lock_guard guard(mutex_);
    dead_.insert(peer);
    sought_.erase(peer);
  }
  std::int64_t agent_turn() override {
    turns.fetch_add(1);
    return -1;
  }
  std::vector<int> wait_fds() override { return {}; }

  /// What a search for other holders finds from now on.
  void be_held(const std::string& holder) {
    const std::lock_guard guard(mutex_);
    holders_ = {holder};
  }
  /// From now on this rung is not reached until release().
  void hold(core::Rung rung) {
    const std::lock_guard guard(mutex_);
    held_.insert(rung);
  }
  void release() {
    std::function<void()> signal;
    {
      const std::lock_guard guard(mutex_);
      held_.clear();
      report_.reached = true;
      report_.waiting.clear();
      signal = signal_;
    }
    if (signal) signal();
  }
  void refuse(core::Rung rung, std::string why) {
    const std::lock_guard guard(mutex_);
    refused_rung_ = rung;
    refusal_ = std::move(why);
  }

  /// As if a peer on another node had connected.
  void meet_other_node() {
    spans_nodes_.store(true);
    release();  // an engine's reports wake its agent
  }
  /// As if it had met a newer incarnation of the job.
  void leave_behind() {
    left_behind_.store(true);
    release();
  }
  void listen_at(core::Contacts contacts) {
    const std::lock_guard guard(mutex_);
    contacts_ = std::move(contacts);
  }
  /// As if the engine had something to send to the peer, but could not reach it.
  void seek(ProcessId peer) { seek(std::vector{peer}); }
  void seek(const std::vector<ProcessId>& wanted) {
    {
      const std::lock_guard guard(mutex_);
      sought_.insert(wanted.begin(), wanted.end());
      seeks_.store(true);
    }
    release();  // an engine's reports wake its agent
  }
  /// The addresses it was told of this peer; empty if none yet.
  core::Contacts introduced(ProcessId peer) const {
    const std::lock_guard guard(mutex_);
    const auto found = introduced_.find(peer);
    return found == introduced_.end() ? core::Contacts{} : found->second;
  }
  bool dead(ProcessId peer) const {
    const std::lock_guard guard(mutex_);
    return dead_.contains(peer);
  }
  /// How often this peer has answered.
  int answers(ProcessId peer) const {
    const std::lock_guard guard(mutex_);
    const auto found = answers_.find(peer);
    return found == answers_.end() ? 0 : found->second;
  }
  std::vector<core::RungOrder> orders() const {
    const std::lock_guard guard(mutex_);
    return orders_;
  }
  core::RungOrder adopted() const {
    const std::lock_guard guard(mutex_);
    return adopted_;
  }
  core::RungOrder last() const {
    const std::lock_guard guard(mutex_);
    return order_;
  }

  std::atomic<std::uint64_t> turns{0};
  // How often its agent has called unreached().
  std::atomic<std::uint64_t> unreached_asked{0};
  std::size_t peers = 0, bytes_sent = 0;  // bytes_sent: by each of its transports

 private:
  void take(const core::RungOrder& order) {
    report_ = {};
    report_.operation = order.operation;
    report_.epoch = order.epoch;
    report_.rung = order.rung;
    if (!refusal_.empty() && order.rung == refused_rung_) {
      report_.reached = false;
      report_.refusal = refusal_;
      return;
    }
    order_ = order;
    if (held_.contains(order.rung)) {
      report_.reached = false;
      report_.waiting = {"the test"};
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::string> transports_;
  std::function<void()> signal_ = [] {};
  core::Contacts contacts_;
  std::atomic<bool> seeks_{false};
  std::set<ProcessId> sought_;
  std::map<ProcessId, core::Contacts> introduced_;
  std::set<ProcessId> dead_;
  std::map<ProcessId, int> answers_;
  core::RungReport report_;
  core::RungOrder order_;
  core::RungOrder adopted_;
  std::vector<std::string> holders_;
  std::vector<core::RungOrder> orders_;
  std::uint64_t shown_ = 0;
  std::set<core::Rung> held_;
  core::Rung refused_rung_ = core::Rung::kOld;
  std::string refusal_;
};

}  // namespace livebtl::test
