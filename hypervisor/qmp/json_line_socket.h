// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/json_line_socket.h -- one JSON document a line, over a Unix socket: what QEMU's
// monitor and the guest agent have in common. Used by btlctl's one thread; the socket is owned.
// What comes is hostile: bounded in length and depth before anybody looks at it.
#pragma once

#include <livebtl/result.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"

namespace livebtl::hypervisor {

using Json = nlohmann::json;

inline constexpr std::size_t kLineBytesMax = std::size_t{4} << 20;
inline constexpr int kDepthMax = 32;

/// How long somebody waits: until a time, or until he is told to stop.
struct Patience {
  TimeNs deadline = 0;
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const noexcept { return stop != nullptr && stop->load(); }
  /// The same, but no longer than this from now on.
  Patience at_most(TimeNs duration) const noexcept;
};

/// Nothing but time passes; less of it if there is no patience left.
void pause(TimeNs duration, const Patience& patience) noexcept;

class JsonLineSocket {
 public:
  /// `name`: of the other side, for people.
  JsonLineSocket(Fd socket, std::string name);
  static Result<JsonLineSocket> connect(const std::string& path, const Patience& patience);

  /// `before`: bytes in front of the line. After an error the connection is of no more use.
  Status send(const Json& message, std::string_view before, const Patience& patience);
  /// ... and with the line a descriptor, of which the other side then has its own.
  Status send_with(const Fd& descriptor, const Json& message, const Patience& patience);
  /// The next line; always an object. After kTimeout and kCancelled it can be asked for again, and
  /// after kCorrupt for the line that follows. kLimit: a line has no end.
  Result<Json> receive(const Patience& patience);

  const std::string& name() const noexcept { return name_; }

 private:
  Status send_text(std::string_view text, int descriptor, const Patience& patience);
  Status still_patient(const Patience& patience) const;
  Status wait_for(short events, const Patience& patience) const;
  Status read_more(const Patience& patience);

  Fd socket_;
  std::string name_;
  std::string buffer_;
};

/// A discarded value: that is no document, or one too deep.
Json parse_bounded(std::string_view text);
/// An object's member of that kind; nullptr: there is none.
const Json* member(const Json& object, const char* name, Json::value_t kind);
/// ... of kind string; "": there is none.
std::string text_member(const Json& object, const char* name);
/// One line for people, of bounded length and without control characters, those that turn the
/// direction of writing among them.
std::string one_line(std::string_view text);

}  // namespace livebtl::hypervisor
