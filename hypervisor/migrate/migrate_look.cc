// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_look.cc -- the steps of migrate_steps.h that ask where cards and
// migration stand, and what an error means for the machine. Run by btlctl's one thread.
#include "hypervisor/migrate/migrate_steps.h"
#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {
Answer answer_of(const Error& error) {
  return {went_of(error.code), code_of(error.code), error.text, {}};
}

Answer answer_of(const Status& status) { return status ? Answer{} : answer_of(status.error()); }

Json MigrateSteps::given_arguments(const std::string& id) const {
  for (const Json& each : request_.card_arguments) {
    if (text_member(each, "id") == id) return each;
  }
  return {};
}

/// The first time how to plug them in is asked for too.
Status MigrateSteps::look_at_cards(Qmp& qmp, const Patience& patience, Seen& seen) {
  std::vector<Card> found = cards_;
  for (std::size_t i = found.size(); i < request_.cards.size(); ++i) {
    const std::string& id = request_.cards[i];
    auto card = find_card(qmp, id, given_arguments(id), patience);
    if (!card) return tl::unexpected(card.error());
    if (!card->present && card->arguments.is_null())
      return fail(Errc::kNotFound, "QEMU has no device '" + id +
                                       "', nor was it pulled by an earlier call; info qtree shows "
                                       "what it has, and --card-args how to plug it in");
    found.push_back(std::move(*card));
  }
  for (const Card& card : found) {
    const auto present = is_plugged(qmp, card.id, patience);
    if (!present) return tl::unexpected(present.error());
    seen.plugged.push_back(*present);
    if (*present) continue;
    const auto pulled = was_pulled(qmp, card.id, patience);
    if (!pulled) return tl::unexpected(pulled.error());
    seen.pulled = seen.pulled || *pulled;
  }
  cards_ = std::move(found);
  return {};
}

Answer MigrateSteps::look(const Patience& patience) {
  Answer answer;
  const auto ask = [&](Qmp& qmp) -> Status {
    const auto found = ask_migration(qmp, patience);
    if (!found) return tl::unexpected(found.error());
    figures_ = found->figures;
    const auto state = run_state(qmp, patience);
    if (!state) return tl::unexpected(state.error());
    answer.seen.running = *state == "running";
    answer.seen.migration = found->migration;
    // After a migration to a file, say, whose guest then went on, the last one still counts as
    // done. One that was just completed shows as finish-migrate for a moment.
    if (found->migration == Migration::kCompleted && *state != "postmigrate" &&
        *state != "finish-migrate")
      answer.seen.migration = Migration::kNone;
    return look_at_cards(qmp, patience, answer.seen);
  };
  const Answer went = on_source(ask, patience);
  return went.went == Went::kWell ? answer : went;
}

/// Whoever is needed later answers, as far as he can be asked before anything was touched.
Status MigrateSteps::look_ahead(const Patience& patience) {
  if (const auto name = agent_.host_name(patience); !name) return tl::unexpected(name.error());
  if (!request_.has_destination()) return {};
  const auto there = destination(patience);
  if (!there) return tl::unexpected(there.error());
  const auto state = run_state(**there, patience);
  destination_qmp_.reset();  // it is needed much later
  if (!state) return tl::unexpected(state.error());
  if (*state == "inmigrate") return {};
  return fail(Errc::kRefused, request_.destination_qmp +
                                  ": this QEMU does not wait for a guest (-incoming), but is '" +
                                  one_line(*state) + "'");
}

/// What a vm snapshot saves looks as if the guest had moved, and its job may be held.
Answer MigrateSteps::look_for_hold(const Patience& patience) {
  bool held = false;
  const auto ask = [&](Qmp& qmp) -> Status {
    const auto note = read_note(qmp, kHoldNote, patience);
    if (!note) return tl::unexpected(note.error());
    held = !note->empty();
    return {};
  };
  Answer answer = on_source(ask, patience);
  if (held)
    answer = {Went::kFailed,
              kCodeRefused,
              "a vm snapshot was killed here, and this guest's job may still be held: call that "
              "btlctl vm snapshot again first, which ends what it has left",
              {}};
  return answer;
}

Answer MigrateSteps::look_first() {
  const Patience patience = forward().at_most(kLookMax);
  if (Answer held = look_for_hold(patience); held.went != Went::kWell) return held;
  Answer seen = look(patience);
  const bool under_way =
      seen.seen.migration == Migration::kActive || seen.seen.migration == Migration::kCompleted;
  if (seen.went != Went::kWell || under_way || !seen.seen.running) return seen;
  const Status ahead = look_ahead(patience);
  if (ahead) return seen;
  Answer answer = answer_of(ahead);
  if (ahead.error().code == Errc::kRefused) answer.code = kCodeRefused;
  return answer;
}

Answer MigrateSteps::look_back() {
  going_back_ = true;
  Answer seen = look(afterwards());
  if (seen.went != Went::kWell || seen.seen.migration == Migration::kActive) return seen;
  const Answer reset = on_source(
      [this](Qmp& qmp) { return set_capabilities(qmp, false, afterwards()); }, afterwards());
  return reset.went == Went::kWell ? seen : reset;
}

}  // namespace livebtl::hypervisor
