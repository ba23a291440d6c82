// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/complete.h -- `btlctl __complete WORDS...`: what a shell may offer for the last of these words, from the
// definition of the command line and from the run directory. The scripts for bash, zsh and fish (share/completion)
// call it, and know nothing of btlctl themselves.
//
// It is printed: a candidate a line, then a tab and what it means; after these ":files", ":directories" or ":command" if
// the shell is to complete names of files or a command line of its own, too. Nothing is ever printed on standard error.
// One thread; no process is woken, as only files are read.
#pragma once

#include <string>
#include <vector>

#include "base/exit_code.h"

namespace livebtl::tool {

struct Candidate {
  std::string word;
  std::string meaning = {};  // one line; "": none
  bool operator==(const Candidate&) const = default;
};

/// What is found on this node, for completion alone.
struct Seen {
  std::vector<Candidate> jobs, users, transports, nodes, relays, holds;
};
/// job, user: what the words or the environment say; "": all that there are.
using LookAround = Seen (*)(const std::string& job, const std::string& user);
Seen look_around(const std::string& job, const std::string& user);
/// The transports, and before several of a family ("verbs:mlx5_0", "verbs:mlx5_1") the word for all of it.
std::vector<Candidate> with_families(const std::vector<Candidate>& transports);

struct Completion {
  std::vector<Candidate> candidates;
  enum class Also { kNothing, kFiles, kDirectories, kCommand } also = Also::kNothing;
};

/// words: those behind the program's name; the last one is being typed, and may be empty.
Completion complete(const std::vector<std::string>& words, LookAround look);
/// The same for livebtl-run.
Completion complete_run(const std::vector<std::string>& words);

/// As the shells' scripts read it.
std::string completion_text(const Completion& completion);
/// Prints it and ends within five seconds, whatever happens. In an environment without a job's name it is about all jobs.
ExitCode print_completion(const std::vector<std::string>& words, bool of_run);

}  // namespace livebtl::tool
