// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/sequence.cc -- see sequence.h.
#include "hypervisor/plan/sequence.h"

#include <algorithm>

#include "base/assert.h"

namespace livebtl::hypervisor {
namespace {

Outcome outcome_of(Errc error) {
  if (error == Errc::kCancelled) return Outcome::kInterrupted;
  return error == Errc::kTimeout ? Outcome::kTimeout : Outcome::kFailed;
}

}  // namespace

int code_of(Errc error) noexcept {
  if (error == Errc::kCancelled) return kCodeInterrupted;
  if (error == Errc::kAuth) return kCodeNotPermitted;
  if (error == Errc::kTimeout) return kCodeTakenBack;
  return error == Errc::kInvalid ? kCodeUsage : kCodeNotFound;
}

Answer answer_of(const Error& error) {
  return {outcome_of(error.code), code_of(error.code), error.text};
}

Answer answer_of(const Status& status) { return status ? Answer{} : answer_of(status.error()); }

Answer late_answer_of(const Error& error) {
  const int code = error.code == Errc::kCancelled ? kCodeInterrupted : kCodeTakenBack;
  return {outcome_of(error.code), code, error.text};
}

const char* name_of(Step step) noexcept {
  constexpr const char* kNames[] = {
      "look",      "claim",   "prepare",  "unplug", "begin",  "migrate",    "cancel",
      "look_back", "hold",    "renew",    "save",   "go_on",  "check",      "end_hold",
      "seal",      "discard", "plug",     "return", "arrive", "plug_there", "return_there",
      "forget",    "load",    "restored", "halt",   "end"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Step::kEnd) + 1);
  return kNames[static_cast<std::size_t>(step)];
}

bool Action::of_a_machine() const noexcept {
  return of_a_card() || step == Step::kSave || step == Step::kGoOn || step == Step::kLoad ||
         step == Step::kHalt;
}

bool Action::of_a_card() const noexcept {
  return step == Step::kUnplug || step == Step::kPlug || step == Step::kPlugThere;
}

Sequence::Sequence(std::vector<MachineNames> machines) : machines_(std::move(machines)) {
  for (const MachineNames& each : machines_) plugged_.emplace_back(each.cards.size(), true);
}

std::string Sequence::object() const {
  if (!next_.of_a_machine()) return "";
  const MachineNames& machine = machines_[next_.machine];
  if (!next_.of_a_card()) return machine.name;
  const std::string& card = machine.cards[next_.card];
  return machine.name.empty() ? card : "card " + card + " of " + machine.name;
}

std::string Sequence::label() const {
  const std::string of = object();
  return name_of(next_.step) + (of.empty() ? "" : " " + of);
}

void Sequence::finish(int code, std::string text) {
  end_.code = code;
  end_.text = std::move(text);
  next_ = {Step::kEnd};
}

void Sequence::leave(const Answer& answer) { end_.left.push_back(label() + ": " + answer.text); }

void Sequence::see_cards(const Answer& answer) {
  LIVEBTL_ASSERT(answer.seen.size() == machines_.size(), "each machine was looked at");
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    LIVEBTL_ASSERT(answer.seen[i].plugged.size() == plugged_[i].size(), "each card was looked for");
    plugged_[i] = answer.seen[i].plugged;
  }
}

bool Sequence::has_cards() const noexcept {
  return std::any_of(machines_.begin(), machines_.end(),
                     [](const MachineNames& each) { return !each.cards.empty(); });
}

bool Sequence::next_card(Step step, bool plugged, std::size_t machine, std::size_t card) {
  for (; machine < machines_.size(); ++machine, card = 0) {
    for (; card < plugged_[machine].size(); ++card) {
      if (plugged_[machine][card] != plugged) continue;
      next_ = {step, machine, card};
      return true;
    }
  }
  return false;
}

}  // namespace livebtl::hypervisor
