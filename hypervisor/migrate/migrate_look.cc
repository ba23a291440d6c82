// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_look.cc -- the steps of migrate_steps.h that ask where cards and
// migration stand. Run by btlctl's one thread.
#include "hypervisor/migrate/migrate_steps.h"
#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {

Json MigrateSteps::given_arguments(const std::string& id) const {
  for (const Json& each : request_.card_arguments) {
    if (text_member(each, "id") == id) return each;
  }
  return {};
}

/// The first look also asks how to plug them in.
Status MigrateSteps::look_at_cards(Qmp& qmp, const Deadline& deadline, Observation& seen) {
  std::vector<Card> found = cards_;
  for (std::size_t i = found.size(); i < request_.cards.size(); ++i) {
    const std::string& id = request_.cards[i];
    auto card = find_known_card(qmp, id, given_arguments(id), ", and --card-args how to plug it in",
                                deadline);
    if (!card) return tl::unexpected(card.error());
    found.push_back(std::move(*card));
  }
  for (const Card& card : found) {
    const auto present = is_plugged(qmp, card.id, deadline);
    if (!present) return tl::unexpected(present.error());
    seen.plugged.push_back(*present);
    if (*present) continue;
    const auto pulled = was_pulled(qmp, card.id, deadline);
    if (!pulled) return tl::unexpected(pulled.error());
    seen.pulled = seen.pulled || *pulled;
  }
  cards_ = std::move(found);
  return {};
}

Answer MigrateSteps::look(const Deadline& deadline) {
  Observation seen;
  const auto ask = [&](Qmp& qmp, const Deadline&) -> Status {
    const auto found = ask_migration(qmp, deadline);
    if (!found) return tl::unexpected(found.error());
    figures_ = found->figures;
    const auto state = run_state(qmp, deadline);
    if (!state) return tl::unexpected(state.error());
    seen.running = *state == "running";
    seen.migration = found->migration;
    // If a guest goes on after a migration (to a file, say), QEMU still shows that as completed.
    // One that was just completed shows as finish-migrate for a moment.
    if (found->migration == Migration::kCompleted && *state != "postmigrate" &&
        *state != "finish-migrate")
      seen.migration = Migration::kNone;
    return look_at_cards(qmp, deadline, seen);
  };
  Answer answer = on(source_, ask, deadline);
  if (answer.ok()) answer.seen = {std::move(seen)};
  return answer;
}

/// Whether what is needed later answers, as far as it can be asked before anything is touched.
Status MigrateSteps::look_ahead(const Deadline& deadline) {
  if (const auto name = agent_.host_name(deadline); !name) return tl::unexpected(name.error());
  if (!request_.has_destination()) return {};
  std::string there;
  const auto ask = [&there](Qmp& qmp, const Deadline& until) -> Status {
    auto state = run_state(qmp, until);
    if (!state) return tl::unexpected(state.error());
    there = std::move(*state);
    return {};
  };
  auto asked = destination_.run(ask, deadline);
  destination_.close();  // it is needed much later
  if (!asked || there == "inmigrate") return asked;
  return fail(Errc::kRefused, request_.destination_qmp +
                                  ": this QEMU does not wait for a guest (-incoming), but is '" +
                                  one_line(there) + "'");
}

/// A guest that a vm snapshot is saving looks as if it had moved, and its job may be held.
Answer MigrateSteps::look_for_hold(const Deadline& deadline) {
  bool held = false;
  const auto ask = [&held](Qmp& qmp, const Deadline& until) -> Status {
    const auto note = read_note(qmp, kHoldNote, until);
    if (!note) return tl::unexpected(note.error());
    held = !note->empty();
    return {};
  };
  Answer answer = on(source_, ask, deadline);
  if (!held) return answer;
  return {Outcome::kFailed, kCodeRefused,
          "a vm snapshot was killed here, and this guest's job may still be held: call that btlctl "
          "vm snapshot again first: it clears up what it has left"};
}

Answer MigrateSteps::look_first() {
  const Deadline deadline = forward().at_most(kLookMax);
  if (Answer held = look_for_hold(deadline); !held.ok()) return held;
  Answer looked = look(deadline);
  if (!looked.ok()) return looked;
  const Observation& seen = looked.seen.front();
  const bool under_way =
      seen.migration == Migration::kActive || seen.migration == Migration::kCompleted;
  if (under_way || !seen.running) return looked;
  const Status ahead = look_ahead(deadline);
  if (ahead) return looked;
  Answer answer = answer_of(ahead);
  if (ahead.error().code == Errc::kRefused) answer.code = kCodeRefused;
  return answer;
}

Answer MigrateSteps::look_back() {
  going_back_ = true;
  Answer looked = look(afterwards());
  if (!looked.ok() || looked.seen.front().migration == Migration::kActive) return looked;
  const auto reset = [](Qmp& qmp, const Deadline& deadline) {
    return set_capabilities(qmp, false, deadline);
  };
  Answer answer = on(source_, reset, afterwards());
  return answer.ok() ? looked : answer;
}

}  // namespace livebtl::hypervisor
