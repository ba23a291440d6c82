// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_report.cc -- what is told of a snapshot or a restore that was: its document.
// Run by btlctl's one thread; owns nothing.
#include "hypervisor/set/set_vms.h"

namespace livebtl::hypervisor {
namespace {

Json phase_json(const SetPhase& phase) {
  Json json = {{"phase", phase.name}, {"milliseconds", phase.milliseconds}, {"well", phase.well}};
  if (!phase.of.empty()) json["of"] = phase.of;
  if (!phase.text.empty()) json["text"] = phase.text;
  return json;
}

}  // namespace

Json report_json(const SetReport& report) {
  Json phases = Json::array();
  for (const SetPhase& phase : report.phases) phases.push_back(phase_json(phase));
  return {{"schema", "livebtl.vm/1"},      {"verb", report.verb},
          {"exit_code", report.end.code},  {"text", report.end.text},
          {"directory", report.directory}, {"hold", report.hold},
          {"dry_run", report.dry_run},     {"left", report.end.left},
          {"plan", report.plan},           {"phases", std::move(phases)}};
}

}  // namespace livebtl::hypervisor
