// SPDX-License-Identifier: BSD-3-Clause
// launch/plan.h -- how a launch line is made to use livebtl: which door, which variables and words.
// Only what is needed is set, and nothing against what the user has set. docs/adr/0052 has the
// reasons.
//
// Threads: any; nothing is kept. Errors: kNotFound (no such program), kUnsupported (this MPI
// cannot), kInvalid (an existing setting or a word of the line contradicts).
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
  bool one_sided = false;    // also MPI_Put and its like over livebtl
};

struct Plan {
  Launcher launcher;
  Door door = Door::kProvider;
  Variables variables;             // to be set
  std::vector<std::string> words;  // the whole line, beginning with the launcher as it was given
  bool needs_seed = false;   // also set LIVEBTL_SEED: random, new for each start, shown to nobody
  std::string why_provider;  // why the component, which was tried, cannot be used
};

/// words: the line, beginning with the launcher. file_transports: a settings file says which
/// transports to use, so that nothing is set about RDMA devices.
Result<Plan> make_plan(const System& system, const Places& places,
                       const std::vector<std::string>& words, const Wishes& wishes,
                       bool file_transports);

/// The plan as a shell line to copy; the shell itself makes what is secret.
std::string as_shell_line(const Plan& plan);
/// A word quoted for a shell.
std::string shell_quoted(const std::string& word);

}  // namespace livebtl::launch
