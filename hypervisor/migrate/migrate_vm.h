// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_vm.h -- btlctl vm migrate: the machine of migrate_machine.h driven by
// the steps of migrate_steps.h, timed, and told. Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/migrate/migrate_steps.h"

namespace livebtl::hypervisor {

struct MigratePhase {
  std::string name;
  std::string card;  // "": of none
  bool well = false;
  double milliseconds = 0.0;
  std::string text;  // what went wrong
};

struct MigrateReport {
  MigrateEnd end;
  bool dry_run = false;
  std::vector<MigratePhase> phases;
  std::vector<std::string> plan;
  std::vector<Json> cards;  // device_add's arguments
  Json figures = Json::object();
};

/// `say`: hears what is being done.
MigrateReport migrate_vm(const MigrateRequest& request, const std::atomic<bool>& stop,
                         const MigrateSteps::Say& say);

/// Exactly what would be done, a line a phase: "unplug hca0: device_del ...". `seen`: by the look;
/// `node`: the guest's name, or what stands for it.
std::vector<std::string> plan_of(const MigrateRequest& request, const Answer& seen,
                                 const std::vector<Card>& cards, const std::string& node);
/// The card that it is done to; "": none.
std::string card_of(const MigrateRequest& request, Action action);
/// The document livebtl.vm/1.
Json report_json(const MigrateReport& report);

}  // namespace livebtl::hypervisor
