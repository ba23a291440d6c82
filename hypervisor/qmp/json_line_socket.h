// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/json_line_socket.h -- one JSON document a line, over a Unix socket: what QEMU's
// monitor and the guest agent have in common. Used by btlctl's one thread; the socket is owned.
// What comes is hostile: its length and depth are bounded before anything else looks at it.
#pragma once

#include <livebtl/result.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/json.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kLineBytesMax = std::size_t{4} << 20;
inline constexpr int kDepthMax = 32;

/// Sleeps that long, but not beyond the deadline.
void pause(TimeNs duration, const Deadline& deadline) noexcept;

class JsonLineSocket {
 public:
  /// `name`: of the peer, for messages to the user.
  JsonLineSocket(Fd socket, std::string name)
      : socket_(std::move(socket)), name_(std::move(name)) {}
  static Result<JsonLineSocket> connect(const std::string& path, const Deadline& deadline);

  /// `before`: bytes in front of the line. After an error the connection is useless.
  Status send(const Json& message, std::string_view before, const Deadline& deadline);
  /// ... and passes a descriptor along, of which the peer gets a duplicate.
  Status send_with(const Fd& descriptor, const Json& message, const Deadline& deadline);
  /// The next line; always an object. Errors: after kTimeout and kCancelled it can be called again,
  /// after kCorrupt for the line that follows; kLimit: the line has no end.
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

/// A discarded value if the text is no document, is nested too deeply, or has a key twice in one object.
Json parse_bounded(std::string_view text);
/// A member of an object, of that kind; nullptr: there is none.
const Json* member(const Json& object, const char* name, Json::value_t kind);
/// ... of kind string; "": there is none.
std::string text_member(const Json& object, const char* name);
/// ... a number from 0; nullopt: there is none.
std::optional<std::uint64_t> number_member(const Json& object, const char* name);
/// One line to be shown to the user: of bounded length and without control characters, including
/// those that change the direction of writing.
std::string one_line(std::string_view text);

}  // namespace livebtl::hypervisor
