// SPDX-License-Identifier: BSD-3-Clause
// control/place/run.h -- which run of a job is on in a directory, and who has entered it (ADR 0024).
//
// A run lasts on a node from the first process that enters the job's directory to the end of the last. Its
// number stands in the register (livebtl.run), on every card, and in the secret's name: what an
// earlier run left is known by that, and counts for nothing. Any thread; the register is locked while it is open.
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
  /// Opens that of a directory of this user, and waits for its lock, some seconds at most. create: if there is
  /// none. Errors: kNotFound, kAuth (it is no plain file of this user), kTimeout, kSystem.
  static Result<RunRegister> open(const std::string& directory, bool create);
  /// Unlocks it, also where a child that was forked meanwhile has a copy of the descriptor.
  ~RunRegister();
  RunRegister(RunRegister&&) noexcept = default;
  RunRegister& operator=(RunRegister&&) = delete;

  /// Does it still stand in the directory? It may have been removed, with the directory, before we had the lock.
  bool in_place() const;
  RunId run() const;
  /// Has a process entered that is not proved to have ended?
  bool anybody_lives() const;
  /// A new run, which nobody has entered. Errors: kSystem.
  Status begin(RunId run);
  /// Errors: kSystem, kLimit (many thousands live).
  Status enter(const ProcessMark& mark);
  /// Takes back one enter() of this process.
  void leave(const ProcessMark& mark);

 private:
  RunRegister(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string read() const;

  std::string path_;
  Fd fd_;
};

/// Without the lock: a moment later it may be another. `owner`: of the directory.
RunId current_run(const std::string& directory, uid_t owner);

/// Of this process, in a directory that may be gone already.
void leave_run(const std::string& directory) noexcept;

/// Where this run's processes on this node keep their common secret.
std::string secret_path(const std::string& directory, RunId run);
/// Is this the name of such a file, of any run, or of one that was being written?
bool is_secret_name(std::string_view name);

}  // namespace livebtl::control
