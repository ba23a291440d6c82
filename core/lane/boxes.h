// SPDX-License-Identifier: BSD-3-Clause
// core/lane/boxes.h -- which pairs have a fast box, and which boxes are looked at. A sender asks for one when it has
// sent enough small messages; a receiver grants as many as it wants to look at in every round, and asks those back
// that are not in use when others want one.
//
// Threads: under the engine's lock. Ownership: borrows the ends of boxes, which stand in Paths, until detach().
#pragma once

#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Boxes {
 public:
  Boxes(const Context& context, Sender& sender) : context_(context), sender_(sender) {}

  // The sending end.
  /// A message that would have fitted into a box went by the endpoint of this path: asks for one in time.
  void count_small(Path& path) noexcept {
    if (path.box_writer.state == BoxWriter::State::kNone) [[unlikely]]
      count_towards_request(path);
  }
  /// Does the path that the peer is sent on have a box that is looked at?
  static bool renewable(const Peer& peer) noexcept {
    const Path* const path = peer.send_path;
    return path != nullptr && path->box_writer.state == BoxWriter::State::kGranted;
  }
  /// Takes a new lease on that. Requires: renewable(). false: there is none to be had now.
  bool renew(Peer& peer) noexcept;
  /// Our marker has been posted: nothing more of ours comes by this path's box.
  static void on_left(Path& path) noexcept;

  // The receiving end.
  const std::vector<BoxReader*>& polled() const noexcept { return polled_; }
  /// Lies something in any box that nobody has taken?
  bool waiting() const noexcept;
  /// The peer has left the path, or its box. Requires: it has been emptied.
  void close(Path& path) noexcept;

  // Both.
  /// The peer says something about a box of this path. seq: hostile.
  void on_note(Path& path, std::uint64_t seq) noexcept;
  /// The path is down, or about to be destroyed: its memory is not touched any more.
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
  bool refused_ = false;  // some request, since the boxes in use were last looked at
  TimeNs looked_at_ = 0;
};

/// What the path has carried, by its endpoint and by its boxes.
EndpointStats stats_of(const Path& path) noexcept;

}  // namespace livebtl::core
