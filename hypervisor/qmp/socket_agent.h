// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/socket_agent.h -- the guest agent over the socket that QEMU gives it. One thread
// at a time; each request has its own connection, so that other clients are not kept out for long.
#pragma once

#include <functional>

#include "hypervisor/qmp/json_line_socket.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

class SocketAgent : public GuestAgent {
 public:
  using Connect = std::function<Result<JsonLineSocket>(const Deadline&)>;
  explicit SocketAgent(const std::string& path);
  explicit SocketAgent(Connect connect) : connect_(std::move(connect)) {}

  Result<Json> request(const std::string& command, const Json& arguments,
                       const Deadline& deadline) override;

 private:
  Connect connect_;
};

}  // namespace livebtl::hypervisor
