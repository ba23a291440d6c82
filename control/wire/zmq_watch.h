// SPDX-License-Identifier: BSD-3-Clause
// control/wire/zmq_watch.h -- how far a socket's connections get, by ZeroMQ's monitor events: the
// socket itself does not show who turned it away. Threads: the socket's.
#pragma once

#include "control/wire/zmq_socket.h"

namespace livebtl::control {

class ConnectionWatch {
 public:
  /// socket: not connected yet; outlives the watch. Errors: kSystem.
  static Result<ConnectionWatch> begin(zmq::context_t& context, ZmqSocket& socket);
  ConnectionWatch(ConnectionWatch&& other) noexcept;
  ConnectionWatch& operator=(ConnectionWatch&&) = delete;
  ~ConnectionWatch();

  /// Takes in what has happened since the last call.
  void look();
  /// Somebody took a connection.
  bool connected() const noexcept { return connected_; }
  /// How many connections could not be made; each is tried again.
  std::uint64_t failures() const noexcept { return failures_; }
  /// Somebody took a connection, and ended it before either side had proved who it is.
  bool turned_away() const noexcept { return turned_away_; }
  /// Both sides have proved who they are.
  bool welcomed() const noexcept { return welcomed_; }

 private:
  ConnectionWatch(void* watched, zmq::socket_t events)
      : watched_(watched), events_(std::move(events)) {}
  void* watched_;
  zmq::socket_t events_;
  std::uint64_t failures_ = 0;
  bool connected_ = false;
  bool turned_away_ = false;
  bool welcomed_ = false;
};

}  // namespace livebtl::control
