// SPDX-License-Identifier: BSD-3-Clause
// core/lane/boxes.h -- which pairs have a fast box, and which boxes are polled. A sender asks for a
// box once it has sent enough small messages; a receiver grants as many as it is willing to poll in
// every round, and reclaims unused ones when others want one.
//
// Threads: under the engine's lock. Ownership: borrows the ends of boxes in Paths, until detach().
#pragma once

#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Boxes {
 public:
  Boxes(const Context& context, Sender& sender) : context_(context), sender_(sender) {}

  // The sending end.
  /// A message that a box could have held went by this path's endpoint: asks for a box in time.
  void count_small(Path& path) noexcept {
    if (path.box_writer.state == BoxWriter::State::kNone) [[unlikely]]
      count_towards_request(path);
  }
  /// Does the peer's send path have a box that the peer polls?
  static bool renewable(const Peer& peer) noexcept {
    const Path* const path = peer.send_path;
    return path != nullptr && path->box_writer.state == BoxWriter::State::kGranted;
  }
  /// Takes a new lease on that box. Requires: renewable(). false: none can be had now.
  bool renew(Peer& peer) noexcept;
  /// Our marker has been posted: nothing more of ours goes into this path's box.
  static void on_left(Path& path) noexcept;

  // The receiving end.
  const std::vector<BoxReader*>& polled() const noexcept { return polled_; }
  /// Does a box hold a message that nobody has taken?
  bool waiting() const noexcept;
  /// The peer has left the path, or its box. Requires: the box was emptied.
  void close(Path& path) noexcept;

  // Both.
  /// The peer says something about a box of this path. seq: hostile.
  void on_note(Path& path, std::uint64_t seq) noexcept;
  /// The path is down, or about to be destroyed: its box is not touched any more.
  void detach(Path& path) noexcept;
  /// About every millisecond.
  void keep_time() noexcept;
  /// When keep_time() has something to do next, if no frame comes.
  TimeNs due_at() const noexcept;

 private:
  void count_towards_request(Path& path) noexcept;
  void on_ask(Path& path, std::uint32_t ordinal) noexcept;
  void on_refused(Path& path) noexcept;
  void note(Path& path, BoxNote note) noexcept;

  const Context& context_;
  Sender& sender_;
  std::vector<BoxReader*> polled_;
  bool refused_ = false;  // a request was, since use was last checked
  TimeNs looked_at_ = 0;
};

/// What the path has carried, by its endpoint and by its boxes.
EndpointStats stats_of(const Path& path) noexcept;

}  // namespace livebtl::core
