// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/report.h -- a sequence driven by its steps, timed, and the report on it; and what
// --dry-run shows: the sequence played with the expected answers, one line per step. Used by
// btlctl's one thread; owns nothing.
#pragma once

#include <initializer_list>

#include "hypervisor/plan/sequence.h"
#include "hypervisor/plan/steps.h"

namespace livebtl::hypervisor {

using Lines = std::vector<std::string>;

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
  Lines plan = {};
  Json details = Json::object();  // what this verb alone reports: part of the document
};

/// Runs the sequence to its end. `stop`: the user wants the machines back.
void drive(Sequence& sequence, Steps& steps, const std::atomic<bool>& stop,
           const Progress& progress, Report& report);

/// The document livebtl.vm/1.
Json report_json(const Report& report);

using Describe = std::function<std::string(Action)>;
using Expect = std::function<Answer(Action)>;

/// Plays to the end, or until one of these steps is next: "unplug hca0: device_del hca0, ...".
Lines play(Sequence& sequence, const Describe& describe, const Expect& expect,
           std::initializer_list<Step> until = {});
/// The plan, then the line `when`, which names a failure, and what is done about it.
Lines with_failure(Lines plan, const std::string& when, const Lines& failing);

// Plan lines of steps that several commands share; `timeout`: of the whole command.
std::string order_text(const GuestJob& job, const Verb& verb, TimeNs timeout);  // ": btlctl ..."
std::string unplug_text(const Vm& vm, const Card& card, TimeNs timeout);

}  // namespace livebtl::hypervisor
