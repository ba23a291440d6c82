// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_look.cc -- the steps of migrate_steps.h that ask for the state of
// cards and migration. Run by btlctl's one thread.
#include "hypervisor/migrate/migrate_steps.h"

namespace livebtl::hypervisor {

Json MigrateSteps::given_arguments(const std::string& id) const {
  for (const Json& each : request_.card_arguments) {
    if (text_member(each, "id") == id) return each;
  }
  return {};
}

/// The first look also asks how to plug the cards in.
Status MigrateSteps::look_at_cards(const Deadline& deadline, Observation& seen) {
  std::vector<Card> found = cards_;
  for (std::size_t i = found.size(); i < request_.cards.size(); ++i) {
    const std::string& id = request_.cards[i];
    auto card = source_->find_card(id, given_arguments(id), ", and --card-args how to plug it in",
                                   deadline);
    if (!card) return tl::unexpected(card.error());
    found.push_back(std::move(*card));
  }
  for (const Card& card : found) {
    const auto present = source_->is_plugged(card, deadline);
    if (!present) return tl::unexpected(present.error());
    seen.plugged.push_back(*present);
    if (*present) continue;
    const auto pulled = source_->was_pulled(card, deadline);
    if (!pulled) return tl::unexpected(pulled.error());
    seen.pulled = seen.pulled || *pulled;
  }
  cards_ = std::move(found);
  return {};
}

Answer MigrateSteps::look(const Deadline& deadline) {
  const auto state = source_->look(deadline);
  if (!state) return answer_of(state.error());
  figures_ = state->migration.figures;
  Observation seen;
  seen.running = state->running;
  seen.migration = state->migration.migration;
  began_ = began_ || seen.migration != Migration::kNone;
  Answer answer = answer_of(look_at_cards(deadline, seen));
  if (answer.ok()) answer.seen = {std::move(seen)};
  return answer;
}

/// Whether everything that is needed later answers, as far as can be asked before touching
/// anything.
Status MigrateSteps::look_ahead(const Deadline& deadline) {
  const auto name = source_->agent().host_name(deadline);
  if (!name) return tl::unexpected(name.error());
  if (!destination_) return {};
  auto ready = destination_->look_ready(deadline);
  destination_->rest();  // it is needed much later
  return ready;
}

/// A guest that is being saved by vm snapshot looks as if it had moved, and its job may be held.
Answer MigrateSteps::look_for_hold(const Deadline& deadline) {
  const auto note = source_->read_note(kHoldNote, deadline);
  if (!note) return answer_of(note.error());
  if (note->empty()) return {};
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
  Answer answer = answer_of(source_->reset_migration(afterwards()));
  if (!answer.ok()) return answer;
  if (!has_job_) looked.left_there = left_there();  // else after the job's return
  return looked;
}

}  // namespace livebtl::hypervisor
