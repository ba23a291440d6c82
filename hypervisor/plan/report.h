// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/report.h -- a sequence driven by its steps, timed, and what is reported of it.
// Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/plan/sequence.h"
#include "hypervisor/plan/steps.h"

namespace livebtl::hypervisor {

struct Phase {
  std::string name;
  std::string object;  // "vm1", "card hca0 of vm1", "hca0", ""
  bool ok = false;
  double milliseconds = 0.0;
  std::string text = {};  // what went wrong
};

struct Report {
  std::string verb;
  std::string object_key;  // what a phase's object is called in the document
  bool dry_run = false;
  End end = {};
  std::vector<Phase> phases = {};
  std::vector<std::string> plan = {};
  Json details = Json::object();  // what this verb alone reports: part of the document
};

/// To its end. `stop`: the user wants the machines back.
void drive(Sequence& sequence, Steps& steps, const std::atomic<bool>& stop,
           const Progress& progress, Report& report);

/// The document livebtl.vm/1.
Json report_json(const Report& report);

}  // namespace livebtl::hypervisor
