// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/report.cc -- see report.h.
#include "hypervisor/plan/report.h"

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
  Json document = {{"schema", "livebtl.vm/1"},     {"verb", report.verb},
                   {"exit_code", report.end.code}, {"text", report.end.text},
                   {"dry_run", report.dry_run},    {"left", report.end.left},
                   {"plan", report.plan},          {"phases", std::move(phases)}};
  document.update(report.details);
  return document;
}

}  // namespace livebtl::hypervisor
