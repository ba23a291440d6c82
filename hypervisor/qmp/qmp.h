// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp.h -- QEMU's monitor: commands and their answers by id, and the events that
// come in between, which are kept until they are asked for. Used by btlctl's one thread; owns its
// socket.
#pragma once

#include <deque>
#include <functional>

#include "hypervisor/qmp/json_line_socket.h"

namespace livebtl::hypervisor {

inline constexpr std::size_t kEventsMax = 1024;  // the oldest go first

struct QmpEvent {
  std::string name;
  Json data;  // an object
};

class Qmp {
 public:
  /// Reads the greeting, and negotiates.
  static Result<Qmp> open(const std::string& path, const Deadline& deadline);
  static Result<Qmp> over(JsonLineSocket socket, const Deadline& deadline);

  /// What QEMU returned. Errors: kNotFound: there is no such device; kRefused: QEMU refused, in its
  /// own words; any other: the connection is useless.
  Result<Json> execute(const std::string& command, Json arguments, const Deadline& deadline);
  /// The same for a command that returns nothing of interest.
  Status tell(const std::string& command, Json arguments, const Deadline& deadline);

  /// Passes a descriptor to QEMU, where "fd:NAME" names it from then on.
  Status give_descriptor(const std::string& name, const Fd& descriptor, const Deadline& deadline);

  /// The first event of this name, received already or still to come; `device`: its device, or "".
  Result<QmpEvent> wait_event(const std::string& name, const std::string& device,
                              const Deadline& deadline);
  /// The same among those received already; false if there is none.
  bool take_event(const std::string& name, const std::string& device, QmpEvent& event);
  /// Waits for any message, and keeps it if it is an event.
  Status listen(const Deadline& deadline);

 private:
  explicit Qmp(JsonLineSocket socket) : socket_(std::move(socket)) {}
  Status wait_greeting(const Deadline& deadline);
  Result<Json> wait_answer(const std::string& command, std::uint64_t id, const Deadline& deadline);
  /// True: the message was an event.
  bool keep_event(const Json& message);
  Result<Json> read_answer(const std::string& command, const Json& message) const;

  JsonLineSocket socket_;
  std::deque<QmpEvent> events_;
  std::uint64_t last_id_ = 0;
};

/// A QEMU's monitor, by the path of its socket; connected when first needed.
class Monitor {
 public:
  using Act = std::function<Status(Qmp&, const Deadline&)>;
  explicit Monitor(std::string path) : path_(std::move(path)) {}

  /// Returns the error of connecting, or of `act`. An error that makes the connection useless
  /// closes it, and the next call reconnects. After any other error it is kept: otherwise another
  /// client that waits for its turn would get QEMU to itself.
  Status run(const Act& act, const Deadline& deadline);
  void close() noexcept { qmp_.reset(); }

 private:
  std::string path_;
  std::optional<Qmp> qmp_;
};

}  // namespace livebtl::hypervisor
