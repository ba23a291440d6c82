// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/guest_agent.h -- runs programs in a guest through QEMU's guest agent. One thread
// at a time.
#pragma once

#include <optional>
#include <vector>

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

struct Finished {
  int code = 0;  // 128 + signal if a signal ended it
  std::string output, errors;
};

class GuestAgent {
 public:
  virtual ~GuestAgent() = default;

  /// Returns the agent's answer. Errors: kRefused, in the agent's own words; any other: no answer.
  virtual Result<Json> request(const std::string& command, const Json& arguments,
                               const Deadline& deadline) = 0;
  /// The guest's host name.
  Result<std::string> host_name(const Deadline& deadline);
  /// Runs a program and waits for its end. After a time-out the program keeps running.
  Result<Finished> run(const std::vector<std::string>& words, const Deadline& deadline);
};

/// nullopt: the text is not base64.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace livebtl::hypervisor
