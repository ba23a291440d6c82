// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/report.cc -- see report.h.
#include "hypervisor/plan/report.h"

#include <algorithm>

#include "base/exit_code.h"

namespace livebtl::hypervisor {
namespace {

Json phase_json(const Phase& phase, const std::string& object_key) {
  Json json = {{"phase", phase.name}, {"milliseconds", phase.milliseconds}, {"well", phase.ok}};
  if (!phase.object.empty()) json[object_key] = phase.object;
  if (!phase.text.empty()) json["text"] = phase.text;
  return json;
}

}  // namespace

void drive(Sequence& sequence, Steps& steps, const std::atomic<bool>& stop,
           const Progress& progress, Report& report) {
  for (;;) {
    if (stop.load()) sequence.interrupt();
    const Action action = sequence.next();
    if (action.step == Step::kEnd) break;
    progress(sequence.label());
    Phase phase{name_of(action.step), sequence.object()};
    const TimeNs begun = monotonic_now();
    const Answer answer = steps.perform(action);
    phase.milliseconds = static_cast<double>(monotonic_now() - begun) / 1e6;
    phase.ok = answer.ok();
    if (!phase.ok) phase.text = answer.text;
    report.phases.push_back(std::move(phase));
    sequence.answer(answer);
  }
  report.end = sequence.end();
}

Json report_json(const Report& report) {
  Json phases = Json::array();
  for (const Phase& phase : report.phases) phases.push_back(phase_json(phase, report.object_key));
  Json document = {{"schema", "livebtl.vm/1"},
                   {"verb", report.verb},
                   {"exit_code", report.end.code},
                   {"text", report.end.text},
                   {"reason", reason_of(static_cast<ExitCode>(report.end.code))},
                   {"dry_run", report.dry_run},
                   {"left", report.end.left},
                   {"plan", report.plan},
                   {"phases", std::move(phases)}};
  document.update(report.details);
  return document;
}

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

std::string unplug_text(const Vm& vm, const Card& card, TimeNs timeout) {
  return vm.words_for(VmAct::kUnplug, &card, "") + ", and wait up to " +
         std::to_string(std::min(Budget::way_there(timeout), kUnplugMax) / kSecond) +
         " s until it is gone";
}

}  // namespace livebtl::hypervisor
