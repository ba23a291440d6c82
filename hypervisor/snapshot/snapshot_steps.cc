// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.cc -- see snapshot_steps.h.
#include "hypervisor/snapshot/snapshot_steps.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/hex.h"
#include "base/secret.h"
#include "hypervisor/qmp/guest_holders.h"
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

Status set_bandwidth(Qmp& qmp, std::uint64_t bytes_a_second, const Patience& patience) {
  const auto set = qmp.execute("migrate-set-parameters", {{kBandwidth, bytes_a_second}}, patience);
  if (!set) return tl::unexpected(set.error());
  return {};
}

}  // namespace

SetAnswer SnapshotSteps::perform_own(SetAction action) {
  switch (action.what) {
    case SetDo::kClaim:
      return claim();
    case SetDo::kPrepare:
      return order(GuestOrder::kPrepare);
    case SetDo::kUnplug:
      return unplug(action);
    case SetDo::kHold:
      return give(hold_start(hold_, request_.lease));
    case SetDo::kRenew:
      return give(hold_renew(hold_, request_.lease));
    case SetDo::kSave:
      return save(action.machine);
    case SetDo::kGoOn:
      return go_on(action);
    case SetDo::kCheck:
      return action.back ? give_briefly(hold_check(hold_)) : give_afterwards(hold_check(hold_));
    case SetDo::kEndHold:
      return end_hold(action.back);
    case SetDo::kSeal:
      return seal();
    case SetDo::kDiscard:
      return set_answer_of(directory_.discard());
    case SetDo::kForget:
      return forget();
    default:
      return {};
  }
}

// There

SetAnswer SnapshotSteps::claim() {
  const Patience patience = forward().at_most(kLookMax);
  if (const auto made = directory_.prepare(); !made) return set_answer_of(made.error());
  hold_ = drawn_hold();
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SetAnswer went = on(
        i, [&](Qmp& qmp) { return claim(machines_[i], qmp, patience); }, patience);
    if (went.went != Went::kWell) return went;
  }
  return {};
}

/// A machine that stands still is saved as fast as its file can be written.
Status SnapshotSteps::claim(Machine& machine, Qmp& qmp, const Patience& patience) {
  const Json note = {{"hold", hold_}};
  if (auto kept = keep_note(qmp, kHoldNote, note.dump(), patience); !kept) return kept;
  if (!machine.bandwidth) {  // else a call before has noted it, and lifted it perhaps
    const auto now = qmp.execute("query-migrate-parameters", Json::object(), patience);
    if (!now) return tl::unexpected(now.error());
    const Json* allowed = member(*now, kBandwidth, Json::value_t::number_unsigned);
    if (allowed == nullptr) return fail(Errc::kCorrupt, "QEMU does not say its max-bandwidth");
    const auto bandwidth = allowed->get<std::uint64_t>();
    const Json before = {{kBandwidth, bandwidth}};
    if (auto kept = keep_note(qmp, kBandwidthNote, before.dump(), patience); !kept) return kept;
    machine.bandwidth = bandwidth;
  }
  return set_bandwidth(qmp, kUnbounded, patience);
}

/// Not to be interrupted: a card that was asked for goes, sooner or later, and only who waits for
/// it can plug it in again.
SetAnswer SnapshotSteps::unplug(SetAction action) {
  const Patience patience = uninterrupted().at_most(kUnplugMax);
  const Card& card = machines_[action.machine].cards[action.card];
  SetAnswer answer = on(
      action.machine, [&](Qmp& qmp) { return pull_card(qmp, card, patience); }, patience);
  const std::string& path = request_.machines[action.machine].agent;
  if (answer.went == Went::kTimeout && !path.empty()) {
    GuestAgent agent(path);
    answer.text += holders_text(agent, diagnosis());
  }
  return answer;
}

SetAnswer SnapshotSteps::save(std::size_t machine) {
  const Patience patience = forward().at_most(request_.lease - kLeaseMargin);
  SetAnswer answer = on(
      machine, [&](Qmp& qmp) { return save(machine, qmp, patience); }, patience);
  if (answer.went == Went::kTimeout)
    answer.text =
        "saving it took too long: --lease, which the job is held for at most, must be "
        "longer than it takes, and --timeout than all";
  return answer;
}

Status SnapshotSteps::save(std::size_t machine, Qmp& qmp, const Patience& patience) {
  for (const Card& card : machines_[machine].cards) {
    if (auto gone = drop_shared_memory(qmp, card, patience); !gone) return gone;
  }
  if (auto set = set_capabilities(qmp, false, patience); !set) return set;
  if (auto stopped = wait_stopped(qmp, patience); !stopped) return stopped;
  {
    const auto file = directory_.create(request_.machines[machine].name);
    if (!file) return tl::unexpected(file.error());
    if (auto given = qmp.give_descriptor(kStateDescriptor, *file, patience); !given) return given;
  }
  const auto begun = qmp.execute("migrate", {{"uri", kStateUri}}, patience);
  if (!begun) return tl::unexpected(begun.error());
  MigrationState state;
  const auto say = [&](const std::string& text) {
    say_(request_.machines[machine].name + ": " + text);
  };
  if (auto followed = follow_migration(qmp, patience, say, state); !followed) return followed;
  if (state.migration == Migration::kCompleted) return {};
  return fail(Errc::kRefused, state.why);
}

// Back, and on the way there, where what is kept for the way back is not touched

/// A save that is under way is given up.
SetAnswer SnapshotSteps::go_on(SetAction action) {
  const Patience patience = action.back ? afterwards() : uninterrupted().at_most(kAfterwards);
  return on(
      action.machine,
      [&](Qmp& qmp) -> Status {
        auto state = ask_migration(qmp, patience);
        if (!state) return tl::unexpected(state.error());
        if (state->migration == Migration::kActive) {
          const auto asked = qmp.execute("migrate_cancel", Json::object(), patience);
          if (!asked) return tl::unexpected(asked.error());
          auto ended = follow_migration(
              qmp, patience, [](const std::string&) {}, *state);
          if (!ended) return ended;
        }
        return wait_running(qmp, patience);
      },
      patience);
}

/// One that was broken, or is over already, has ended as well: whether it was good the check says.
SetAnswer SnapshotSteps::end_hold(bool back) {
  const TimeNs limit = back ? budget_.afterwards(monotonic_now()) : budget_.there();
  const auto said = give_verb(agent_, request_.guest, hold_end(hold_), tries_until(limit, false));
  const bool ended = said && (said->code == kCodeInconsistent || said->no_job);
  SetAnswer answer = ended ? SetAnswer{} : read(said);
  hold_open_ = answer.went != Went::kWell;
  if (hold_open_)
    answer.text = "the job may be held until its lease is over; in the guest " +
                  request_.machines[request_.speaker()].name + ": btlctl hold end --id " + hold_ +
                  " (" + answer.text + ")";
  return answer;
}

SetAnswer SnapshotSteps::seal() {
  SetFile set{hold_, time_text(), members_, {}};
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SavedMachine saved{request_.machines[i].name, 0, {}};
    for (const Card& card : machines_[i].cards) saved.cards.push_back(card.arguments);
    set.machines.push_back(std::move(saved));
  }
  return set_answer_of(directory_.seal(std::move(set)));
}

Status SnapshotSteps::plug(Qmp& qmp, const Card& card) {
  auto plugged = plug_card_again(qmp, card, plugging());
  return plugged ? forget_card(qmp, card.id, afterwards()) : plugged;
}

Status SnapshotSteps::put_bandwidth_back(Machine& machine, Qmp& qmp) {
  if (!machine.bandwidth) return {};
  if (auto set = set_bandwidth(qmp, *machine.bandwidth, afterwards()); !set) return set;
  if (auto gone = delete_object(qmp, kBandwidthNote, afterwards()); !gone) return gone;
  machine.bandwidth.reset();
  return {};
}

/// Where something is left to do by hand, it is so whether QEMU knows of us or not; but a hold that
/// may be there still the next call ends, if it finds its id.
SetAnswer SnapshotSteps::forget() {
  SetAnswer all;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const SetAnswer went = on(
        i,
        [&](Qmp& qmp) -> Status {
          if (auto put_back = put_bandwidth_back(machines_[i], qmp); !put_back) return put_back;
          return hold_open_ ? Status() : delete_object(qmp, kHoldNote, afterwards());
        },
        afterwards());
    if (went.went != Went::kWell) all = went;
  }
  return all;
}

}  // namespace livebtl::hypervisor
