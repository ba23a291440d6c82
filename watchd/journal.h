// SPDX-License-Identifier: BSD-3-Clause
// watchd/journal.h -- the record of what was done, an Entry per line, each on the disk before the
// step that it announces. Main thread only; owns the file, and with it the lock that keeps a second
// livebtl-watchd away.
#pragma once

#include "base/fd.h"
#include "watchd/events/entry.h"

namespace livebtl::watchd {

class Journal {
 public:
  /// Creates it if it is missing. Errors: kRefused: another process has it; kAuth, kSystem.
  static Result<Journal> open(const std::string& path);

  /// All earlier lines, oldest first. A last line that is cut off was never reported as written,
  /// and is left out; `warnings` names others that cannot be read.
  Result<std::vector<Entry>> read(std::vector<std::string>& warnings);
  /// Errors: kSystem: the announced step must not be taken, if it may be taken only once.
  Status append(const Entry& entry);

 private:
  Journal(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  Status shorten(std::string& text);

  std::string path_;
  Fd file_;
};

}  // namespace livebtl::watchd
