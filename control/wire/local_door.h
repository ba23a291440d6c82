// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_door.h -- the Unix socket at which a process takes connections of its node.
//
// Of this user and of root alone: the directory's mode keeps others out, and each connection's user is
// checked besides. A bounded number of connections is kept; the one that was unused for longest makes room,
// before others one that never said anything. Threads: one.
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
  /// Makes the socket, of mode 0600, and listens. The file is not removed at the end. Errors: kNoMemory (no
  /// descriptor), kSystem.
  static Result<LocalDoor> listen(const std::string& path, std::size_t connections_max);
  LocalDoor(LocalDoor&&) noexcept = default;
  LocalDoor& operator=(LocalDoor&&) = delete;

  /// Takes connections that wait. Those for which no descriptor is left, not even a spare one, wait on.
  void turn(TimeNs now);
  /// When turn() wants to be called though nothing was polled readable; INT64_MAX: need not be.
  TimeNs wake_at() const noexcept { return retry_at_; }
  /// Connections wait, and no descriptor is left for them.
  bool starved() const noexcept { return retry_at_ != INT64_MAX; }

  /// The next envelope of any connection; `peer` names it.
  std::optional<Envelope> receive();
  /// To the connection that `peer` names. false: dropped, as LocalLink::send().
  bool send(const Envelope& envelope);
  /// Connections that have ended since this was last asked; each counted if it had said something.
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
  ClosedInChild only_here_;  // after the descriptor: it goes first
  std::size_t connections_max_;
  SpareDescriptors spares_{kSpares};
  Links links_;  // by number, which is never used again
  std::uint64_t numbers_ = 0;
  std::uint64_t uses_ = 0;
  std::vector<std::uint64_t> ready_;  // connections that look() found, the next one last
  std::vector<pollfd> polled_;        // look()'s, kept for its memory
  TimeNs retry_at_ = INT64_MAX;
  std::vector<std::string> ended_;
};

}  // namespace livebtl::control
