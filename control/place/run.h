// SPDX-License-Identifier: BSD-3-Clause
// control/place/run.h -- which run of a job is current in a directory, and who has entered it (ADR
// 0024).
//
// On a node, a run lasts from the first process that enters the job's directory to the end of the
// last. Its number is in the register (livebtl.run), on every card, and in the secret's name: by
// that, what an earlier run left is recognized and ignored. Any thread; the register is locked
// while it is open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/process_mark.h"
#include "livebtl/result.h"

namespace livebtl::control {

inline constexpr std::string_view kRunRegister = "livebtl.run";

/// Random; kNoRun: none has begun in that directory.
enum class RunId : std::uint64_t {};
inline constexpr RunId kNoRun{0};

class RunRegister {
 public:
  /// Opens the register in a directory of this user, and waits some seconds at most for its lock.
  /// create: if there is none. Errors: kNotFound, kAuth (no plain file of this user), kTimeout,
  /// kSystem.
  static Result<RunRegister> open(const std::string& directory, bool create);
  /// Unlocks it, even if a child that was forked meanwhile has a copy of the descriptor.
  ~RunRegister();
  RunRegister(RunRegister&&) noexcept = default;
  RunRegister& operator=(RunRegister&&) = delete;

  /// Is it still in the directory? It may have been removed, with the directory, before we had the
  /// lock.
  bool in_place() const;
  RunId run() const;
  /// Has a process entered that is not proved to have ended?
  bool anybody_lives() const;
  /// Begins a run that nobody has entered. Errors: kSystem.
  Status begin(RunId run);
  /// Errors: kSystem, kLimit (many thousands alive).
  Status enter(const ProcessMark& mark);
  /// Undoes one enter() of this process.
  void leave(const ProcessMark& mark);

 private:
  RunRegister(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string read() const;

  std::string path_;
  Fd fd_;
};

/// Without the lock: it may change a moment later. `owner`: of the directory.
RunId current_run(const std::string& directory, uid_t owner);

/// For this process, in a directory that may be gone already.
void leave_run(const std::string& directory) noexcept;

/// Where this run's processes on this node keep their common secret.
std::string secret_path(const std::string& directory, RunId run);
/// Is this the name of such a file, of any run, or of one that was being written?
bool is_secret_name(std::string_view name);

}  // namespace livebtl::control
