// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_look.cc -- how a snapshot finds its machines: what they run, what an
// earlier call has left in them, and what speaks against beginning. Run by btlctl's one thread.
#include "hypervisor/qmp/note.h"
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

/// What a disk holds is not in the snapshot: a guest that is restored with a disk that has changed
/// since would destroy it.
Status no_writable_disk(Qmp& qmp, const Deadline& deadline) {
  const auto blocks = qmp.execute("query-block", Json::object(), deadline);
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
                    "', which is in no snapshot; snapshot it yourself at the same moment, and say "
                    "--disks-are-mine, or make it read-only");
  }
  return {};
}

/// `path`: of its socket; "": there is no agent to ask.
Status agent_answers(const std::string& path, const Deadline& deadline) {
  if (path.empty()) return {};
  const auto name = GuestAgent(path).host_name(deadline);
  return name ? Status() : tl::unexpected(name.error());
}

}  // namespace

Answer SnapshotSteps::look() {
  const auto holds = directory_.look();
  if (!holds) {
    Answer answer = answer_of(holds.error());
    if (holds.error().code == Errc::kRefused) answer.code = kCodeRefused;
    return answer;
  }
  Answer answer = look_at_each();
  answer.sealed = *holds == SetDirectory::Holds::kSet;
  return answer.ok() && answer.sealed ? look_at_set(std::move(answer)) : answer;
}

/// A set of another hold is an older one: each night's call wants a set of its own.
Answer SnapshotSteps::look_at_set(Answer seen) {
  const auto set = directory_.load();
  if (!set) return answer_of(set.error());
  seen.text = directory_.path() + " holds a whole set already, taken at " + set->taken;
  seen.repeats = !holds_.empty();
  for (const std::string& hold : holds_) seen.repeats = seen.repeats && hold == set->hold;
  return seen;
}

Answer SnapshotSteps::look_at(std::size_t machine, Observation& seen, const Deadline& deadline) {
  bool refused = false;
  const auto act = [&](Qmp& qmp, const Deadline&) -> Status {
    const auto state = run_state(qmp, deadline);
    if (!state) return tl::unexpected(state.error());
    seen.running = *state == "running";
    seen.sent = *state == "postmigrate";
    if (auto read = read_claim(machine, qmp, seen, deadline); !read) return read;
    const auto migration = ask_migration(qmp, deadline);
    if (!migration) return tl::unexpected(migration.error());
    refused = migration->migration == Migration::kActive && !seen.claimed;
    if (refused) return fail(Errc::kRefused, "another client is migrating it just now");
    if (auto found = find_cards(machine, qmp, seen, deadline); !found) return found;
    if (request_.ignores_disks) return {};
    auto disks = no_writable_disk(qmp, deadline);
    refused = !disks && disks.error().code == Errc::kRefused;
    return disks;
  };
  Answer answer = on(machine, act, deadline);
  // A guest that stands still does not answer.
  if (answer.ok() && seen.running)
    answer = answer_of(agent_answers(request_.machines[machine].agent, deadline));
  if (refused) answer.code = kCodeRefused;
  return answer;
}

Status SnapshotSteps::find_cards(std::size_t machine, Qmp& qmp, Observation& seen,
                                 const Deadline& deadline) {
  std::vector<Card>& cards = machines_[machine].cards;
  cards.clear();
  for (const std::string& id : request_.machines[machine].cards) {
    auto card = find_known_card(qmp, id, {}, "", deadline);
    if (!card) return tl::unexpected(card.error());
    seen.plugged.push_back(card->present);
    cards.push_back(std::move(*card));
  }
  return {};
}

Status SnapshotSteps::read_claim(std::size_t machine, Qmp& qmp, Observation& seen,
                                 const Deadline& deadline) {
  const auto bandwidth = read_note(qmp, kBandwidthNote, deadline);
  if (!bandwidth) return tl::unexpected(bandwidth.error());
  const Json before = parse_bounded(*bandwidth);
  if (const auto allowed = number_member(before, kBandwidth)) bandwidth_[machine] = *allowed;
  const auto text = read_note(qmp, kHoldNote, deadline);
  if (!text) return tl::unexpected(text.error());
  const std::string hold = text_member(parse_bounded(*text), "hold");
  if (!well_formed_hold(hold)) return {};
  seen.claimed = true;
  hold_ = hold;
  holds_.push_back(hold);
  return {};
}

}  // namespace livebtl::hypervisor
