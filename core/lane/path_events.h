// SPDX-License-Identifier: BSD-3-Clause
// core/lane/path_events.h -- what the lanes leave to the BML: frames about paths, and the wish for
// a path. All of it is off the message path. Threads: under the engine's lock.
#pragma once

#include "core/lane/frame.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class PathEvents {
 public:
  /// A frame of the handshake. payload: hostile.
  virtual void on_hello(Path& path, Bytes payload) noexcept = 0;
  /// The dialler uses this accepted path: we may send on it.
  virtual void on_confirmed(Path& path) noexcept = 0;
  /// A frame without a number, other than data and credit: the peer says something about paths.
  virtual void on_path_frame(Path& path, const FrameHead& head, Bytes header,
                             Bytes payload) noexcept = 0;
  /// The peer announces where it listens. payload: hostile.
  virtual void on_addresses(Peer& peer, Bytes payload) noexcept = 0;
  /// The peer has sent what no honest peer sends: it must be cut off. what: for the log.
  virtual void on_breach(Peer& peer, const char* what) noexcept = 0;
  /// There is something to send, and no path to send it on.
  virtual void want_path(Peer& peer) noexcept = 0;

 protected:
  ~PathEvents() = default;
};

}  // namespace livebtl::core
