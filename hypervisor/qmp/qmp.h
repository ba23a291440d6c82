// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp.h -- QEMU's monitor: commands and their answers by id, and the events that
// come in between, which are kept until somebody asks for them. Used by btlctl's one thread; owns
// its socket.
#pragma once

#include <deque>

#include "hypervisor/qmp/json_line_socket.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kEventsMax = 1024;  // the oldest go first

struct QmpEvent {
  std::string name;
  Json data;  // an object
};

class Qmp {
 public:
  /// Takes the greeting, and leaves the negotiation behind.
  static Result<Qmp> open(const std::string& path, const Patience& patience);
  static Result<Qmp> over(JsonLineSocket socket, const Patience& patience);

  /// What QEMU returned. kNotFound: there is no such device; kRefused: it said no, in its words;
  /// all else: the connection is of no use any more.
  Result<Json> execute(const std::string& command, Json arguments, const Patience& patience);

  /// Gives QEMU a descriptor of its own, to be named as "fd:NAME".
  Status give_descriptor(const std::string& name, const Fd& descriptor, const Patience& patience);

  /// The first event of this name, whether it has come already or not; `device`: only that one's.
  Result<QmpEvent> wait_event(const std::string& name, const std::string& device,
                              const Patience& patience);
  /// ... of those that have come.
  bool take_event(const std::string& name, const std::string& device, QmpEvent& event);
  /// Waits for any message, and keeps it if it is an event.
  Status listen(const Patience& patience);

 private:
  explicit Qmp(JsonLineSocket socket) : socket_(std::move(socket)) {}
  Status wait_greeting(const Patience& patience);
  Result<Json> wait_answer(const std::string& command, std::uint64_t id, const Patience& patience);
  /// True: it was one.
  bool keep_event(const Json& message);
  Result<Json> read_answer(const std::string& command, const Json& message) const;

  JsonLineSocket socket_;
  std::deque<QmpEvent> events_;
  std::uint64_t last_id_ = 0;
};

}  // namespace livebtl::hypervisor
