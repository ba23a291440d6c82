// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/json_line_socket.h -- one JSON document per line, over a Unix socket: what QEMU's
// monitor and the guest agent have in common. One thread at a time; owns the socket. What comes in
// is hostile: its length and depth are bounded before anything else looks at it.
#pragma once

#include "base/fd.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kLineBytesMax = std::size_t{4} << 20;

class JsonLineSocket {
 public:
  /// `name`: of the peer, for messages to the user.
  JsonLineSocket(Fd socket, std::string name)
      : socket_(std::move(socket)), name_(std::move(name)) {}
  static Result<JsonLineSocket> connect(const std::string& path, const Deadline& deadline);

  /// `before`: bytes in front of the line. After an error the connection is useless.
  Status send(const Json& message, std::string_view before, const Deadline& deadline);
  /// Also passes a descriptor, of which the peer gets a duplicate.
  Status send_with(const Fd& descriptor, const Json& message, const Deadline& deadline);
  /// The next line, always an object. Errors: after kTimeout and kCancelled it can be called again,
  /// after kCorrupt for the line that follows; kLimit: the line is too long.
  Result<Json> receive(const Deadline& deadline);

  const std::string& name() const noexcept { return name_; }

 private:
  Status send_text(std::string_view text, int descriptor, const Deadline& deadline);
  Status check(const Deadline& deadline) const;
  Status wait_for(short events, const Deadline& deadline) const;
  Status read_more(const Deadline& deadline);

  Fd socket_;
  std::string name_;
  std::string buffer_;
};

}  // namespace livebtl::hypervisor
