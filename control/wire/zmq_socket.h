// SPDX-License-Identifier: BSD-3-Clause
// control/wire/zmq_socket.h -- control messages between nodes, over ZeroMQ: only this file and
// zmq_watch.h know the library. Not for processes of the job: ZeroMQ may end the process that it
// runs in.
//
// An envelope is three frames: back, to, body. Nothing here blocks. A send may be dropped, which is
// not reliably reported: a sender that must be sure waits for the answer and sends again.
//
// Threads: context and sockets belong to one thread. A forked child must not touch them.
#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "base/secret.h"
#include "control/wire/envelope.h"
#include "livebtl/result.h"

namespace livebtl::control {

/// Errors: kSystem.
Result<zmq::context_t> make_zmq_context(int sockets_max);

class ZmqSocket {
 public:
  /// endpoint: ipc://path or tcp://host:port. Speaks CURVE with keys made from the secret if it is
  /// present. Errors: kSystem.
  static Result<ZmqSocket> listen(zmq::context_t& context, const std::string& endpoint,
                                  const Secret& secret);
  /// endpoint: one, or several of one listener, separated by commas: one that can be reached is used.
  static Result<ZmqSocket> connect(zmq::context_t& context, const std::string& endpoint,
                                   const Secret& secret);
  /// The same in two steps, so that the socket can be watched in between (zmq_watch.h).
  static Result<ZmqSocket> caller(zmq::context_t& context, const Secret& secret);
  Status call(const std::string& endpoint);

  /// The next whole envelope; malformed ones are dropped.
  std::optional<Envelope> receive();
  /// false: dropped, because nobody is there or its queue is full.
  bool send(const Envelope& envelope);
  /// Readable when something may have changed since the last call of pending(): call that before
  /// sleeping on this.
  int fd() const;
  /// receive() may give something.
  bool pending() const;
  /// Never: it connects again by itself.
  bool closed() const noexcept { return false; }
  /// For the C interface.
  void* handle() { return socket_.handle(); }

 private:
  ZmqSocket(zmq::socket_t socket, bool listens) : socket_(std::move(socket)), listens_(listens) {}
  zmq::socket_t socket_;
  bool listens_;
};

/// Answers ZeroMQ's question of who may connect to the TCP sockets of a context (ZAP, RFC 27):
/// those that hold the client key made from the secret. Must exist before such a socket listens,
/// and have its serve() called.
class ZmqGate {
 public:
  static Result<ZmqGate> open(zmq::context_t& context, const Secret& secret);
  void serve();
  int fd() const;
  bool pending() const;

 private:
  ZmqGate(zmq::socket_t socket, std::string client_key)
      : socket_(std::move(socket)), client_key_(std::move(client_key)) {}
  zmq::socket_t socket_;
  std::string client_key_;  // public, 32 bytes
};

}  // namespace livebtl::control
