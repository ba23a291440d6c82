// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.cc -- see snapshot_steps.h.
#include "hypervisor/snapshot/snapshot_steps.h"

#include <array>
#include <ctime>

#include "base/hex.h"
#include "base/secret.h"
#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::uint64_t kUnbounded = std::uint64_t{1} << 40U;  // bytes a second

std::string drawn_hold() { return hex_id(random_u64() | 1); }

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Status set_bandwidth(Qmp& qmp, std::uint64_t bytes_a_second, const Deadline& deadline) {
  return qmp.tell("migrate-set-parameters", {{kBandwidth, bytes_a_second}}, deadline);
}

}  // namespace

Answer SnapshotSteps::perform_own(Action action) {
  switch (action.step) {
    case Step::kClaim:
      return claim();
    case Step::kPrepare:
      return order(GuestOrder::kPrepare);
    case Step::kUnplug:
      return unplug(action);
    case Step::kHold:
      return give(hold_start(hold_, request_.lease), budget_.there());
    case Step::kRenew:
      return give(hold_renew(hold_, request_.lease), budget_.there());
    case Step::kSave:
      return save(action.machine);
    case Step::kGoOn:
      return go_on(action);
    case Step::kCheck:
      return check(action.back);
    case Step::kEndHold:
      return end_hold(action.back);
    case Step::kSeal:
      return seal();
    case Step::kDiscard:
      return answer_of(directory_.discard());
    case Step::kForget:
      return forget();
    default:
      return {};
  }
}

/// It begins the way back; on the way back nothing depends on the answer.
Answer SnapshotSteps::check(bool back) {
  const TimeNs now = monotonic_now();
  const TimeNs brief = budget_.diagnosis(now);
  return back ? give(hold_check(hold_), brief, brief)
              : give(hold_check(hold_), budget_.afterwards(now));
}

// The way there

Answer SnapshotSteps::claim() {
  const Deadline deadline = forward().at_most(kLookMax);
  if (const auto made = directory_.prepare(); !made) return answer_of(made.error());
  hold_ = drawn_hold();
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const auto act = [&](Qmp& qmp, const Deadline& until) { return claim(i, qmp, until); };
    if (Answer answer = on(i, act, deadline); !answer.ok()) return answer;
  }
  return {};
}

/// Lifts the bandwidth, too: the machine stands still while it is saved, so its file is to be
/// written as fast as it can be.
Status SnapshotSteps::claim(std::size_t machine, Qmp& qmp, const Deadline& deadline) {
  const Json note = {{"hold", hold_}};
  if (auto kept = keep_note(qmp, kHoldNote, note.dump(), deadline); !kept) return kept;
  if (!bandwidth_.contains(machine)) {  // else an earlier call has noted it, and perhaps lifted it
    const auto now = qmp.execute("query-migrate-parameters", Json::object(), deadline);
    if (!now) return tl::unexpected(now.error());
    const auto allowed = number_member(*now, kBandwidth);
    if (!allowed) return fail(Errc::kCorrupt, "QEMU does not say its max-bandwidth");
    const Json before = {{kBandwidth, *allowed}};
    if (auto kept = keep_note(qmp, kBandwidthNote, before.dump(), deadline); !kept) return kept;
    bandwidth_[machine] = *allowed;
  }
  return set_bandwidth(qmp, kUnbounded, deadline);
}

Answer SnapshotSteps::unplug(Action action) {
  const std::string& path = request_.machines[action.machine].agent;
  GuestAgent agent(path);
  Machine& machine = machines_[action.machine];
  return unplug(machine.monitor, machine.cards[action.card], path.empty() ? nullptr : &agent);
}

Answer SnapshotSteps::save(std::size_t machine) {
  Answer answer = on(
      machine, [&](Qmp& qmp, const Deadline& until) { return save(machine, qmp, until); },
      forward().at_most(request_.lease - kLeaseMargin));
  if (answer.outcome == Outcome::kTimeout)
    answer.text =
        "saving it took too long: --lease must be longer than the saving of one machine takes, and "
        "--timeout longer than the whole command";
  return answer;
}

Status SnapshotSteps::save(std::size_t machine, Qmp& qmp, const Deadline& deadline) {
  for (const Card& card : machines_[machine].cards) {
    if (auto gone = drop_shared_memory(qmp, card, deadline); !gone) return gone;
  }
  if (auto set = set_capabilities(qmp, false, deadline); !set) return set;
  if (auto stopped = wait_stopped(qmp, deadline); !stopped) return stopped;
  {
    const auto file = directory_.create(request_.machines[machine].name);
    if (!file) return tl::unexpected(file.error());
    if (auto given = qmp.give_descriptor(kStateDescriptor, *file, deadline); !given) return given;
  }
  if (auto begun = qmp.tell("migrate", {{"uri", kStateUri}}, deadline); !begun) return begun;
  MigrationState state;
  const auto progress = [&](const std::string& text) {
    progress_(request_.machines[machine].name + ": " + text);
  };
  if (auto followed = follow_migration(qmp, deadline, progress, state); !followed) return followed;
  if (state.migration == Migration::kCompleted) return {};
  return fail(Errc::kRefused, state.why);
}

// The way back; go_on and end_hold are part of the way there, too, and do not use the time that is
// kept for the way back then

/// A save that is under way is given up.
Answer SnapshotSteps::go_on(Action action) {
  const auto act = [](Qmp& qmp, const Deadline& deadline) -> Status {
    auto state = ask_migration(qmp, deadline);
    if (!state) return tl::unexpected(state.error());
    if (state->migration == Migration::kActive) {
      if (auto asked = cancel_migration(qmp, deadline); !asked) return asked;
      const auto quietly = [](const std::string&) {};
      if (auto ended = follow_migration(qmp, deadline, quietly, *state); !ended) return ended;
    }
    return wait_running(qmp, deadline);
  };
  return on(action.machine, act, action.back ? afterwards() : uninterrupted().at_most(kAfterwards));
}

/// A hold that was broken, or is over already, has ended as well: the check says whether it was
/// good.
Answer SnapshotSteps::end_hold(bool back) {
  const TimeNs limit = back ? budget_.afterwards(monotonic_now()) : budget_.there();
  const auto said = give_verb(agent_, request_.guest, hold_end(hold_), tries_until(limit, false));
  const bool ended = said && (said->code == kCodeInconsistent || said->no_job);
  Answer answer = ended ? Answer{} : read(said);
  hold_open_ = !answer.ok();
  if (hold_open_)
    answer.text = "the job may be held until its lease is over; in the guest " +
                  request_.speaker().name + ": btlctl hold end --id " + hold_ + " (" + answer.text +
                  ")";
  return answer;
}

Answer SnapshotSteps::seal() {
  SetFile set{hold_, time_text(), members_, {}};
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SavedMachine saved{request_.machines[i].name, 0, {}};
    for (const Card& card : machines_[i].cards) saved.cards.push_back(card.arguments);
    set.machines.push_back(std::move(saved));
  }
  return answer_of(directory_.seal(std::move(set)));
}

Status SnapshotSteps::put_bandwidth_back(std::size_t machine, Qmp& qmp) {
  const auto before = bandwidth_.find(machine);
  if (before == bandwidth_.end()) return {};
  if (auto set = set_bandwidth(qmp, before->second, afterwards()); !set) return set;
  if (auto gone = delete_object(qmp, kBandwidthNote, afterwards()); !gone) return gone;
  bandwidth_.erase(before);
  return {};
}

/// Of what is left for the user QEMU need know nothing; but a hold that could not be ended is ended
/// by the next call, if that finds its id.
Answer SnapshotSteps::forget() {
  Answer all;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const auto act = [&](Qmp& qmp, const Deadline&) -> Status {
      if (auto put_back = put_bandwidth_back(i, qmp); !put_back) return put_back;
      return hold_open_ ? Status() : delete_object(qmp, kHoldNote, afterwards());
    };
    if (Answer answer = on(i, act, afterwards()); !answer.ok()) all = std::move(answer);
  }
  return all;
}

}  // namespace livebtl::hypervisor
