// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/waiting_criu.h -- a CRIU whose script waits at the moment of no return for a word (criu_words.h). CRIU
// gives its scripts no input, and its log as output: they speak by two pipes with names, in the directory of the images.
// One thread; owns the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypervisor/vm/conversation.h"

namespace livebtl::hypervisor {

class WaitingCriu {
 public:
  WaitingCriu() = default;
  WaitingCriu(const WaitingCriu&) = delete;
  WaitingCriu& operator=(const WaitingCriu&) = delete;
  /// Lets a CRIU that was started fail.
  ~WaitingCriu();

  /// Until the script waits. Errors: kUnreachable: CRIU has ended, and finish() tells how; kTimeout; kSystem.
  Status start(const std::vector<std::string>& words, const std::string& images,
               const Deadline& deadline);
  /// ... and finish() has not been called yet.
  bool started() const noexcept { return program_.has_value(); }
  /// Until CRIU has ended, however long that takes: killed, it would leave the network of the processes locked, and some of
  /// them ended, and others not. Unless it goes its script fails, also if it does not wait yet.
  Result<Finished> finish(bool goes);

 private:
  bool heard_ready() const;

  std::optional<Conversation> program_;
  Fd ready_, go_;
};

}  // namespace livebtl::hypervisor
