// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/complete.h -- `btlctl __complete WORDS...`: what a shell may offer for the last of these
// words, from the definition of the command line and from the run directory. The scripts for bash,
// zsh and fish (share/completion) call it and know nothing about btlctl themselves.
//
// Prints one candidate per line, followed by a tab and its meaning; then ":files", ":directories"
// or ":command" if the shell is to complete file names or a command line itself as well. Nothing is
// ever printed on standard error. One thread; no process is woken, as only files are read.
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

/// What is found on this node; only for completion.
struct Seen {
  std::vector<Candidate> jobs, users, transports, nodes, relays, holds;
};
/// job, user: as the words name them; "": as the environment does, else all.
using LookAround = Seen (*)(const std::string& job, const std::string& user);
Seen look_around(const std::string& job, const std::string& user);
/// The transports; several of one family ("verbs:mlx5_0", "verbs:mlx5_1") are preceded by its name.
std::vector<Candidate> with_families(const std::vector<Candidate>& transports);

struct Completion {
  std::vector<Candidate> candidates;
  enum class Also { kNothing, kFiles, kDirectories, kCommand } also = Also::kNothing;
};

/// words: those after the program's name; the last one is being typed and may be empty.
Completion complete(const std::vector<std::string>& words, LookAround look);
/// The same for livebtl-run.
Completion complete_run(const std::vector<std::string>& words);

/// In the form that the shells' scripts read.
std::string completion_text(const Completion& completion);
/// Prints it; the process ends within five seconds, whatever happens. Covers all jobs if neither
/// the words nor the environment names one.
ExitCode print_completion(const std::vector<std::string>& words, bool of_run);

}  // namespace livebtl::tool
