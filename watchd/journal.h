// SPDX-License-Identifier: BSD-3-Clause
// watchd/journal.h -- the file with what was done, an Entry a line, each on the disk before what it announces is done. The
// main thread's; owns the file, and with it the lock that keeps a second livebtl-watchd away.
#pragma once

#include "base/fd.h"
#include "watchd/events/entry.h"

namespace livebtl::watchd {

class Journal {
 public:
  /// Makes it if it is not there. Errors: kRefused: another process has it; kAuth, kSystem.
  static Result<Journal> open(const std::string& path);

  /// All lines of before, oldest first. A last line that is cut off was never announced as written, and is left out; of
  /// others that cannot be read `warnings` says which.
  Result<std::vector<Entry>> read(std::vector<std::string>& warnings);
  /// Errors: kSystem: what it announces must not be done, if it may be done only once.
  Status append(const Entry& entry);

 private:
  Journal(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  Status shorten(std::string& text);

  std::string path_;
  Fd file_;
};

}  // namespace livebtl::watchd
