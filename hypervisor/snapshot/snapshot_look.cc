// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_look.cc -- how a snapshot finds its machines: what they run, what an
// earlier call has left in them, and what forbids to begin. Run by btlctl's one thread.
#include "hypervisor/qmp/note.h"
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

/// What a disk holds is not in the snapshot: a guest that was restored beside a disk that went on
/// would destroy it.
Status no_writable_disk(Qmp& qmp, const Patience& patience) {
  const auto blocks = qmp.execute("query-block", Json::object(), patience);
  if (!blocks) return tl::unexpected(blocks.error());
  if (!blocks->is_array()) return fail(Errc::kCorrupt, "QEMU gives no list of its disks");
  for (const Json& block : *blocks) {
    const Json* medium = member(block, "inserted", Json::value_t::object);
    const Json* fixed = medium == nullptr ? nullptr : member(*medium, "ro", Json::value_t::boolean);
    if (medium == nullptr || (fixed != nullptr && fixed->get<bool>())) continue;
    std::string name = text_member(block, "device");
    if (name.empty()) name = text_member(block, "qdev");
    return fail(Errc::kRefused,
                "the guest may write to its disk '" + one_line(name) +
                    "', which is in no snapshot; snapshot it at the same moment, and say "
                    "--disks-are-mine, or make it read-only");
  }
  return {};
}

}  // namespace

SetAnswer SnapshotSteps::look() {
  const Patience patience = forward().at_most(kLookMax);
  SetAnswer answer;
  const auto holds = directory_.look();
  if (!holds) {
    answer = set_answer_of(holds.error());
    if (holds.error().code == Errc::kRefused) answer.code = kCodeRefused;
    return answer;
  }
  answer.sealed = *holds == SetDirectory::Holds::kSet;
  answer.seen.resize(machines_.size());
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SetAnswer went = look_at(i, answer.seen[i], patience);
    if (went.went == Went::kWell) continue;
    went.text = request_.machines[i].name + ": " + went.text;
    return went;
  }
  return answer.sealed ? look_at_set(std::move(answer)) : answer;
}

/// Of another hold it is an older one: each night's call wants a set of its own.
SetAnswer SnapshotSteps::look_at_set(SetAnswer seen) {
  const auto set = directory_.load();
  if (!set) return set_answer_of(set.error());
  seen.text = directory_.path() + " holds a whole set already, taken at " + set->taken;
  seen.repeats = !holds_.empty();
  for (const std::string& hold : holds_) seen.repeats = seen.repeats && hold == set->hold;
  return seen;
}

SetAnswer SnapshotSteps::look_at(std::size_t machine, MachineSeen& seen, const Patience& patience) {
  bool refused = false;
  SetAnswer went = on(
      machine,
      [&](Qmp& qmp) -> Status {
        const auto state = run_state(qmp, patience);
        if (!state) return tl::unexpected(state.error());
        seen.running = *state == "running";
        seen.sent = *state == "postmigrate";
        if (auto read = read_claim(machine, qmp, seen, patience); !read) return read;
        const auto migration = ask_migration(qmp, patience);
        if (!migration) return tl::unexpected(migration.error());
        refused = migration->migration == Migration::kActive && !seen.claimed;
        if (refused) return fail(Errc::kRefused, "somebody else migrates it just now");
        if (auto found = find_cards(machine, qmp, seen, patience); !found) return found;
        if (request_.ignores_disks) return {};
        auto disks = no_writable_disk(qmp, patience);
        refused = !disks && disks.error().code == Errc::kRefused;
        return disks;
      },
      patience);
  // A guest that stands still answers nobody.
  if (went.went == Went::kWell && seen.running)
    went = set_answer_of(answers(request_.machines[machine], patience));
  if (refused) went.code = kCodeRefused;
  return went;
}

Status SnapshotSteps::find_cards(std::size_t machine, Qmp& qmp, MachineSeen& seen,
                                 const Patience& patience) {
  std::vector<Card>& cards = machines_[machine].cards;
  cards.clear();
  for (const std::string& id : request_.machines[machine].cards) {
    auto card = find_card(qmp, id, {}, patience);
    if (!card) return tl::unexpected(card.error());
    if (!card->present && card->arguments.is_null())
      return fail(Errc::kNotFound, "QEMU has no device '" + id +
                                       "', nor was it pulled by an earlier call; info qtree shows "
                                       "what it has");
    seen.plugged.push_back(card->present);
    cards.push_back(std::move(*card));
  }
  return {};
}

Status SnapshotSteps::read_claim(std::size_t machine, Qmp& qmp, MachineSeen& seen,
                                 const Patience& patience) {
  const auto bandwidth = read_note(qmp, kBandwidthNote, patience);
  if (!bandwidth) return tl::unexpected(bandwidth.error());
  const Json before = parse_bounded(*bandwidth);
  if (const Json* allowed = member(before, kBandwidth, Json::value_t::number_unsigned))
    machines_[machine].bandwidth = allowed->get<std::uint64_t>();
  const auto text = read_note(qmp, kHoldNote, patience);
  if (!text) return tl::unexpected(text.error());
  const std::string hold = text_member(parse_bounded(*text), "hold");
  if (!well_formed_hold(hold)) return {};
  seen.claimed = true;
  hold_ = hold;
  holds_.push_back(hold);
  return {};
}

}  // namespace livebtl::hypervisor
