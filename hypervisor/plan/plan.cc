// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/plan.cc -- see plan.h.
#include "hypervisor/plan/plan.h"

#include <algorithm>

namespace livebtl::hypervisor {

Lines play(Sequence& sequence, const Describe& describe, const Expect& expect,
           std::initializer_list<Step> until) {
  Lines lines;
  for (;;) {
    const Action action = sequence.next();
    if (action.step == Step::kEnd) return lines;
    if (std::find(until.begin(), until.end(), action.step) != until.end()) return lines;
    lines.push_back(sequence.label() + ": " + describe(action));
    sequence.answer(expect(action));
  }
}

Lines with_failure(Lines plan, const std::string& when, const Lines& failing) {
  plan.push_back(when);
  for (const std::string& line : failing) plan.push_back("  " + line);
  return plan;
}

std::string order_text(const GuestJob& job, const Verb& verb, TimeNs timeout) {
  std::string text = ":";
  for (const std::string& word :
       words_of(job, verb, std::min(Budget::way_there(timeout), kPrepareMax)))
    text += " " + word;
  return text;
}

std::string unplug_text(const Card& card, TimeNs timeout) {
  return "device_del " + card.id + ", and wait up to " +
         std::to_string(std::min(Budget::way_there(timeout), kUnplugMax) / kSecond) +
         " s for DEVICE_DELETED";
}

}  // namespace livebtl::hypervisor
