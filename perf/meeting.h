// SPDX-License-Identifier: BSD-3-Clause
// perf/meeting.h -- how two processes find each other: each writes a file to a directory, with its
// address, the one that it has read, and what it was told to measure. The other's file is hostile
// until checked. One thread.
#pragma once

#include <string>

#include "base/clock.h"
#include "livebtl/result.h"
#include "livebtl/types.h"

namespace livebtl::perf {

struct Meeting {
  std::string directory;
  std::string job;
  int rank = 0;
  std::string agreement;  // one line, at most 4096 bytes

  std::string file_of(int of_rank) const;
};

/// The other's address, once the other has read ours: a file may be left over from an earlier run.
/// Errors: kTimeout (nobody came), kInvalid (the other one was told something else), kSystem.
Result<Address> meet(const Meeting& meeting, const Address& mine, TimeNs timeout);
/// Removes our file, once unneeded.
void remove_file(const Meeting& meeting) noexcept;

}  // namespace livebtl::perf
