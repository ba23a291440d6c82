// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/world_checks.cc -- what the oracle checks, besides the messages.
#include <algorithm>

#include "control/ladder/hold_types.h"
#include "control/ladder/roster.h"
#include "core/lane/frame.h"
#include "tests/sim/world/world.h"

namespace livebtl::sim {
namespace {

bool leads_to_after(core::Rung rung) {
  return rung == core::Rung::kNewTx || rung == core::Rung::kNew;
}

}  // namespace

// Members of one ladder are within one rung. Some may be in the next one already, while a process
// that came late still takes the last rung of this one.
void World::check_member(SimProcess& process) {
  const std::uint64_t operation = process.standing().operation.id;
  const std::uint32_t epoch = process.standing().epoch;
  if (operation == 0) return;
  int lowest = 3, highest = 0;
  bool in_progress = false;
  for (const auto& other : processes_) {
    if (!other->alive() || !other->joined()) continue;
    const control::Standing standing = other->standing();
    if (standing.epoch > epoch) continue;
    const int place = static_cast<int>(control::place_on(standing, operation));
    in_progress =
        in_progress || (standing.operation.id == operation && !control::at_rest(standing));
    lowest = std::min(lowest, place);
    highest = std::max(highest, place);
  }
  if (in_progress && highest - lowest > 1) {
    fail("members are " + std::to_string(highest - lowest) + " rungs apart; " + describe());
  }
}

// Frames sent to a process that has said goodbye do not count: no routing moves the pair. A hold
// may still find the leaver's own answers.
void World::note_post(const Posted& posted) {
  const auto head = core::decode_head(posted.header);
  if (!head) return fail("an engine posted a malformed header on " + posted.transport);
  if (head->kind == core::FrameKind::kGoodbye && !posted.in_vain)
    network_.take_leave(posted.from, posted.to);
  if (network_.took_leave(posted.to, posted.from)) return;
  check_post(posted);
  if (!posted.in_vain && !network_.took_leave(posted.from, posted.to)) holds_.posted(posted.header);
}

// A member that acknowledged NEWTX or NEW does not send on what the new routing excludes or
// quiesces; nor does one that acknowledged OLD on what the old routing does.
void World::check_post(const Posted& posted) {
  const auto& [from, to, transport, header, in_vain] = posted;
  const auto head = core::decode_head(header);
  if (static_cast<std::uint8_t>(head->kind) >= static_cast<std::uint8_t>(core::FrameKind::kAck))
    return;
  const auto find = [this](ProcessId id) {
    return std::ranges::find_if(processes_,
                                [id](const auto& process) { return process->id() == id; });
  };
  const auto at = find(from), peer = find(to);
  if (at == processes_.end() || peer == processes_.end() || !(*at)->told().reached) return;
  const core::RungOrder& order = (*at)->order();
  if (order.rung == core::Rung::kJoint) return;
  const core::RoutingView routing(leads_to_after(order.rung) ? order.after : order.before,
                                  (*at)->node_name(), (*peer)->node_name());
  if (routing.excluded(transport) || routing.quiesced(transport)) {
    fail("process " + std::to_string(static_cast<std::uint64_t>(from)) + " sent " +
         core::to_text(*head) + " on " + transport + ", which it had left by an acknowledged rung");
  }
}

// At an acknowledged end of a ladder, what its routing excludes is closed.
void World::check_closed(SimProcess& process) {
  const core::RungOrder& order = process.order();
  if (order.operation == 0 || !process.told().reached) return;
  if (order.rung != core::Rung::kOld && order.rung != core::Rung::kNew) return;
  const core::RoutingView routing(leads_to_after(order.rung) ? order.after : order.before,
                                  process.node_name());
  for (const SimKind& kind : sim_kinds()) {
    if (routing.excluded(kind.name) && network_.find(kind.name, process.id()) != nullptr) {
      fail("process " + std::to_string(process.number()) + " says that it released " + kind.name +
           ", and has it open");
    }
  }
}

void World::note_result() {
  result_.failure = ledger_.failure();
  result_.faults = network_.counts();
  result_.messages = ledger_.messages();
  result_.boxed = network_.boxed_messages();
  result_.holds = holds_.begun();
  result_.holds_parked = holds_.parked();
  result_.holds_expired = holds_.expired();
  result_.restores = holds_.restored();
  result_.virtual_time = now();
  result_.fingerprint = network_.random().next() ^ random_.next();
}

void World::check_end() {
  std::map<std::uint64_t, std::uint64_t> counters;
  const core::Routing* agreed = nullptr;
  std::vector<control::Standing> standings;
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    counters[process->number()] = process->application().counter();
    const core::EngineStatus status = process->engine().status();
    result_.retransmitted += status.retransmitted_frames;
    result_.duplicates += status.duplicate_frames;
    result_.reordered += status.reordered_frames;
    if (process->joined()) standings.push_back(process->standing());
  }
  if (!ledger_.failure().empty()) return;
  for (const control::Standing& standing : standings) {
    if (agreed == nullptr) agreed = &standing.routing;
    if (!(standing.routing == *agreed))
      fail("at the end two members have different routings in force; " + describe());
  }
  ledger_.check_end(counters);
}

namespace {

std::string transports_text(const core::EngineStatus& status) {
  std::string text = "transports:";
  for (const core::TransportStatus& transport : status.transports) {
    text += " " + transport.name + (transport.open ? "" : " closed") +
            (transport.excluded ? " excluded" : "") + (transport.quiesced ? " quiesced" : "");
    const auto moved = status.routing.moved.find(transport.name);
    text += moved == status.routing.moved.end() ? ";" : " moved to " + moved->second + ";";
  }
  return text;
}

std::string hold_text(const core::HoldReport& hold) {
  if (hold.state == core::HoldState::kNone) return "";
  return std::string(", ") + control::hold_state_name(hold.state) + " as incarnation " +
         std::to_string(static_cast<std::uint32_t>(hold.incarnation));
}

}  // namespace

std::string World::describe() {
  std::string text = "missing: " + ledger_.missing();
  for (const auto& process : processes_) {
    text += "\n  process " + std::to_string(process->number()) + " on node " +
            std::to_string(process->node());
    if (!process->alive()) {
      text += ledger_.is_lost(process->number()) ? ": dead" : ": has left";
      continue;
    }
    const control::Standing standing = process->standing();
    text += std::string(": rung ") + control::rung_name(standing.rung) +
            (standing.reached ? "" : " (not reached)") + (process->frozen() ? ", frozen" : "") +
            (process->leaving() ? ", leaving" : "") + hold_text(process->engine().hold_report()) +
            ", waits for: " + process->application().waiting();
    for (const std::string& waiting : standing.report.waiting) text += "; rung waits: " + waiting;
    const core::EngineStatus status = process->engine().status();
    text += "\n    " + transports_text(status);
    for (const core::PeerStatus& peer : status.peers) {
      text += "\n    to " + std::to_string(static_cast<std::uint64_t>(peer.process)) + " by '" +
              peer.transport + "', kept " + std::to_string(peer.kept_bytes) +
              (peer.lost ? ", lost" : "");
    }
  }
  return text;
}

}  // namespace livebtl::sim
