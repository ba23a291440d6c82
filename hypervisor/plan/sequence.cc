// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/sequence.cc -- see sequence.h.
#include "hypervisor/plan/sequence.h"

#include <algorithm>

#include "base/assert.h"

namespace livebtl::hypervisor {

Sequence::Sequence(std::vector<MachineNames> machines) : machines_(std::move(machines)) {
  for (const MachineNames& each : machines_) plugged_.emplace_back(each.cards.size(), true);
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
