// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_report.cc -- what is told of a migration that was: its document. Run
// by btlctl's one thread; owns nothing.
#include "hypervisor/migrate/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

Json phase_json(const MigratePhase& phase) {
  Json json = {{"phase", phase.name}, {"milliseconds", phase.milliseconds}, {"well", phase.well}};
  if (!phase.card.empty()) json["card"] = phase.card;
  if (!phase.text.empty()) json["text"] = phase.text;
  return json;
}

/// Those of QEMU's figures that are numbers by these names.
Json figures_json(const Json& figures) {
  Json json = Json::object();
  for (const char* name : {"total-time", "downtime", "setup-time"}) {
    if (const Json* value = member(figures, name, Json::value_t::number_unsigned))
      json[std::string(name) + "-ms"] = *value;
  }
  return json;
}

}  // namespace

Json report_json(const MigrateReport& report) {
  Json phases = Json::array();
  for (const MigratePhase& phase : report.phases) phases.push_back(phase_json(phase));
  return {{"schema", "livebtl.vm/1"},
          {"verb", "vm migrate"},
          {"exit_code", report.end.code},
          {"text", report.end.text},
          {"moved", report.end.moved},
          {"dry_run", report.dry_run},
          {"left", report.end.left},
          {"plan", report.plan},
          {"phases", std::move(phases)},
          {"cards", report.cards},
          {"migration", figures_json(report.figures)}};
}

}  // namespace livebtl::hypervisor
