// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/waiting_criu.h -- a CRIU whose script waits for a word at the moment of no return
// (criu_words.h). CRIU gives its scripts no input, and its log as output, so that they talk through
// two named pipes in the directory of the images. One thread; owns the program.
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
  /// Makes a CRIU that was started fail.
  ~WaitingCriu();

  /// Returns once the script waits. Errors: kUnreachable: CRIU has ended, and finish() tells how;
  /// kTimeout; kSystem.
  Status start(const std::vector<std::string>& words, const std::string& images,
               const Deadline& deadline);
  /// CRIU was started, and finish() has not been called yet.
  bool started() const noexcept { return program_.has_value(); }
  /// Waits until CRIU has ended, however long that takes: if killed, it would leave the processes'
  /// network locked, and some of them ended and others not. Unless `goes`, its script fails, even
  /// if it does not wait yet.
  Result<Finished> finish(bool goes);

 private:
  bool heard_ready() const;

  std::optional<Conversation> program_;
  Fd ready_, go_;
};

}  // namespace livebtl::hypervisor
