// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_door.h -- the Unix socket on which a process accepts connections from its
// node.
//
// Only from this user and root: the directory's mode keeps others out, and each connection's user
// is checked as well. The number of connections is bounded; the least recently used makes room, and
// before it any that never said anything. Threads: one.
#pragma once

#include <poll.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/place/fork_watch.h"
#include "control/wire/local_link.h"
#include "control/wire/spare_descriptors.h"

namespace livebtl::control {

class LocalDoor {
 public:
  /// Makes the socket, with mode 0600, and listens. The file is not removed at the end. Errors:
  /// kNoMemory (no descriptor), kSystem.
  static Result<LocalDoor> listen(const std::string& path, std::size_t connections_max);
  LocalDoor(LocalDoor&&) noexcept = default;
  LocalDoor& operator=(LocalDoor&&) = delete;

  /// Accepts waiting connections. Those for which no descriptor is left, not even a spare, keep
  /// waiting.
  void turn(TimeNs now);
  /// When turn() must be called although nothing was polled readable; INT64_MAX: never.
  TimeNs wake_at() const noexcept { return retry_at_; }
  /// Connections wait, and no descriptor is left for them.
  bool starved() const noexcept { return retry_at_ != INT64_MAX; }

  /// The next envelope from any connection; `peer` names the connection.
  std::optional<Envelope> receive();
  /// To the connection that `peer` names. false: dropped, as by LocalLink::send().
  bool send(const Envelope& envelope);
  /// Connections that have ended since the last call, without those that never said anything.
  std::vector<std::string> ended() { return std::exchange(ended_, {}); }
  std::size_t connections() const noexcept { return links_.size(); }

  void add_poll_fds(std::vector<pollfd>& fds) const;
  SpareDescriptors& spares() noexcept { return spares_; }

 private:
  struct Connection {
    LocalLink link;
    std::uint64_t used = 0;  // when it last said something; 0: never
  };
  using Links = std::map<std::uint64_t, Connection>;
  static constexpr std::size_t kSpares = 4;

  LocalDoor(Fd listener, std::size_t connections_max);
  bool take_one(TimeNs now);
  void look();
  void make_room();
  void forget(Links::iterator connection);

  Fd listener_;
  ClosedInChild only_here_;  // after the descriptor, to be destroyed first
  std::size_t connections_max_;
  SpareDescriptors spares_{kSpares};
  Links links_;  // by number; no number is used twice
  std::uint64_t numbers_ = 0;
  std::uint64_t uses_ = 0;
  std::vector<std::uint64_t> ready_;  // connections that look() found, the next one last
  std::vector<pollfd> polled_;        // look()'s, kept for its memory
  TimeNs retry_at_ = INT64_MAX;
  std::vector<std::string> ended_;
};

}  // namespace livebtl::control
