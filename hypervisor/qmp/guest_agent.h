// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/guest_agent.h -- runs programs in a guest, by QEMU's guest agent. Used by btlctl's
// one thread; each request is a connection of its own, so that nobody is kept out for long.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hypervisor/qmp/json_line_socket.h"

namespace livebtl::hypervisor {

struct Finished {
  int code = 0;  // 128 + signal, if one ended it
  std::string output, errors;
};

class GuestAgent {
 public:
  using Connect = std::function<Result<JsonLineSocket>(const Patience&)>;
  explicit GuestAgent(const std::string& path);
  explicit GuestAgent(Connect connect) : connect_(std::move(connect)) {}

  Result<Json> request(const std::string& command, const Json& arguments, const Patience& patience);
  /// The guest's name of itself.
  Result<std::string> host_name(const Patience& patience);
  /// Runs a program, and waits for its end. It is not ended if patience does.
  Result<Finished> run(const std::vector<std::string>& words, const Patience& patience);

 private:
  Connect connect_;
};

/// nullopt: that is none.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace livebtl::hypervisor
