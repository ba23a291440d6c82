// SPDX-License-Identifier: BSD-3-Clause
// launch/plan.h -- how a launch line is put on livebtl: which door, which variables and words. Nothing is set that is
// not needed, and nothing against what the user has set. docs/adr/0052 has the reasons.
//
// Threads: any; nothing is kept. Errors: kNotFound (no such program), kUnsupported (this MPI cannot), kInvalid (what is
// set already, or a word of the line, says otherwise).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/doors.h"
#include "launch/launcher.h"
#include "livebtl/result.h"

namespace livebtl::launch {

struct Wishes {
  std::optional<Door> door;  // none: the component where it can be used, else the provider
  bool one_sided = false;    // MPI_Put and its like over livebtl, too
};

struct Plan {
  Launcher launcher;
  Door door = Door::kProvider;
  Variables variables;             // to be set
  std::vector<std::string> words;  // the whole line, beginning with the launcher as it was given
  bool needs_seed =
      false;  // LIVEBTL_SEED is to be set, too: random, new for each start, shown to nobody
  std::string why_provider;  // where the component was wished for or tried, and could not be used
};

/// words: the line, beginning with the launcher. file_transports: a file of settings says which transports are used,
/// so that nothing is to be set about RDMA devices.
Result<Plan> make_plan(const System& system, const Places& places,
                       const std::vector<std::string>& words, const Wishes& wishes,
                       bool file_transports);

/// The plan as a line for a shell, to be copied: what is secret is made by the shell.
std::string as_shell_line(const Plan& plan);
/// A word as a shell reads it.
std::string shell_quoted(const std::string& word);

}  // namespace livebtl::launch
