// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_look.cc -- the state in which a snapshot finds its machines: what
// they run, what an earlier call left in them, and what forbids a start. Run by btlctl's one
// thread.
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

/// The contents of disks are not in the snapshot: a guest that is restored with a disk that has
/// changed since would destroy that disk.
Status no_writable_disk(Vm& vm, const Deadline& deadline) {
  auto looked = vm.look_at_disks(deadline);
  if (looked || looked.error().code != Errc::kRefused) return looked;
  return fail(Errc::kRefused,
              "the guest may write to its disk '" + looked.error().text +
                  "', which is in no snapshot; snapshot it yourself at the same moment, and say "
                  "--disks-are-mine, or make it read-only");
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

/// A set of another hold is an older set: each night's call wants its own.
Answer SnapshotSteps::look_at_set(Answer seen) {
  const auto set = directory_.load();
  if (!set) return answer_of(set.error());
  seen.text = directory_.path() + " holds a whole set already, taken at " + set->taken;
  seen.repeats = !holds_.empty();
  for (const std::string& hold : holds_) seen.repeats = seen.repeats && hold == set->hold;
  return seen;
}

Answer SnapshotSteps::look_at(std::size_t machine, Observation& seen, const Deadline& deadline) {
  const Status inspected = inspect(machine, seen, deadline);
  Answer answer = answer_of(inspected);
  if (!inspected && inspected.error().code == Errc::kRefused) answer.code = kCodeRefused;
  // A guest that stands still does not answer.
  if (!answer.ok() || !seen.running ||
      !request_.hypervisor->has_agent(request_.machines[machine].place))
    return answer;
  const auto name = machines_[machine].vm->agent().host_name(deadline);
  return name ? answer : answer_of(name.error());
}

Status SnapshotSteps::inspect(std::size_t machine, Observation& seen, const Deadline& deadline) {
  const auto state = machines_[machine].vm->look(deadline);
  if (!state) return tl::unexpected(state.error());
  seen.running = state->running;
  seen.sent = state->sent;
  if (auto read = read_claim(machine, seen, deadline); !read) return read;
  if (state->migration.migration == Migration::kActive && !seen.claimed)
    return fail(Errc::kRefused, "another client is migrating it just now");
  if (auto found = find_cards(machine, seen, deadline); !found) return found;
  return request_.ignores_disks ? Status() : no_writable_disk(*machines_[machine].vm, deadline);
}

Status SnapshotSteps::find_cards(std::size_t machine, Observation& seen, const Deadline& deadline) {
  std::vector<Card>& cards = machines_[machine].cards;
  cards.clear();
  for (const std::string& id : request_.machines[machine].cards) {
    auto card = machines_[machine].vm->find_card(id, {}, "", deadline);
    if (!card) return tl::unexpected(card.error());
    seen.plugged.push_back(card->present);
    cards.push_back(std::move(*card));
  }
  return {};
}

Status SnapshotSteps::read_claim(std::size_t machine, Observation& seen, const Deadline& deadline) {
  const auto text = machines_[machine].vm->read_note(kHoldNote, deadline);
  if (!text) return tl::unexpected(text.error());
  const std::string hold = text_member(parse_bounded(*text), "hold");
  if (!well_formed_hold(hold)) return {};
  seen.claimed = true;
  hold_ = hold;
  holds_.push_back(hold);
  return {};
}

}  // namespace livebtl::hypervisor
