// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/history.cc -- see history.h.
#include "control/ladder/history.h"

#include <algorithm>

namespace livebtl::control {

void History::ordered(const Order& order, TimeNs now, std::uint64_t unix_now_ns) {
  const Operation& operation = order.operation;
  if (switches_.empty() || switches_.back().operation != operation.id) {
    if (switches_.size() == kSwitchesKept) switches_.pop_front();
    SwitchRecord& begun = switches_.emplace_back();
    begun.operation = operation.id;
    begun.epoch = order.epoch;
    begun.verb = operation.verb;
    begun.arguments = operation.arguments;
    begun.node = operation.node;
    begun.ordered_by = order.by;
    begun.began_unix_ns = unix_now_ns;
    began_ = now;
  }
  SwitchRecord& record = switches_.back();
  record.end = SwitchEnd::kUnderWay;
  if (!order.undoing) record.refusal.clear();  // a switch taken back keeps the reason
  record.finished_by = order.by == record.ordered_by ? "" : order.by;
  if (record.rungs.size() == kRungsKept) record.rungs.erase(record.rungs.begin());
  RungRecord& rung = record.rungs.emplace_back();
  rung.rung = order.rung;
  rung.undoing = order.undoing;
  rung.ordered_ns = rung.reached_ns = now - began_;
}

void History::stands(const Standing& standing, TimeNs now) {
  if (switches_.empty() || switches_.back().operation != standing.operation.id) return;
  SwitchRecord& record = switches_.back();
  if (record.rungs.empty()) return;
  RungRecord& rung = record.rungs.back();
  const bool undone = rung.rung == Rung::kOld;
  record.pairs_moved = undone ? 0 : standing.report.pairs_moved;
  record.pairs_left = undone ? 0 : standing.report.pairs_left;
  if (!standing.report.refusal.empty()) {
    record.refusal = standing.report.refusal;
    record.end = SwitchEnd::kRefused;
  }
  if (rung.reached || standing.rung != rung.rung) return;
  rung.reached_ns = now - began_;
  rung.reached = standing.reached;
  if (!standing.report.waiting.empty()) rung.waited_for = standing.report.waiting.front();
  if (!rung.reached) return;
  if (rung.rung == Rung::kNew) record.end = SwitchEnd::kDone;
  if (undone) record.end = SwitchEnd::kTakenBack;
}

}  // namespace livebtl::control
