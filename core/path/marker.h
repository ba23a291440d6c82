// SPDX-License-Identifier: BSD-3-Clause
// core/path/marker.h -- the proof that a path is empty: which end has left it, and which end knows.
//
// A marker is the last frame that an end sends on a path before it stops using it, except for
// acknowledgements of the peer's own marker. A path delivers in order, so an end that has taken the
// marker has taken everything before it, and its acknowledgement proves that to the other end. Each
// end keeps two state machines, one for what it sends and one for what the peer sends
// (docs/SWITCH.md has the chart).
//
// Pure: no clock, no memory of its own, no I/O. Threads: as the Path that it is part of.
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace livebtl::core {

class Marker {
 public:
  /// How far we are in leaving the path.
  enum class Ours : std::uint8_t {
    kNone,   // we send on it, or never did: no marker is wanted
    kDue,    // we send no more; the marker waits to be posted
    kSent,   // posted behind all that we sent
    kAcked,  // the peer has taken it, and so all that we sent
  };
  /// What the peer does with the path, as far as we have heard.
  enum class Theirs : std::uint8_t {
    kNone,     // it has sent no ordered frame on it
    kSending,  // its ordered lane comes here
    kLeft,     // its marker has come, and nothing behind it
  };

  // What we send.
  /// We leave the path: a marker must follow all that was posted on it, also after an earlier
  /// marker if the path was used since.
  void leave() noexcept { ours_ = Ours::kDue; }
  /// The peer has left the path: so do we, unless we have left it already.
  void leave_too() noexcept {
    if (ours_ == Ours::kNone) ours_ = Ours::kDue;
  }
  /// We send on it (again). An acknowledgement of an earlier marker proves nothing from now on.
  void rejoin() noexcept { ours_ = Ours::kNone; }
  bool due() const noexcept { return ours_ == Ours::kDue; }
  /// The number that the next marker carries, and that its acknowledgement names.
  std::uint64_t next() const noexcept { return ordinal_ + 1; }
  /// The marker next() was posted. Requires: due().
  void on_posted() noexcept {
    LIVEBTL_ASSERT(ours_ == Ours::kDue, "a marker is posted when it is due");
    ours_ = Ours::kSent;
    placed_ = false;
    ++ordinal_;
  }
  /// The peer has acknowledged a marker. false: not our last one, so it proves nothing.
  bool on_ack(std::uint64_t ordinal) noexcept {
    const bool sent = ours_ == Ours::kSent || ours_ == Ours::kAcked;
    if (!sent || ordinal != ordinal_) return false;
    ours_ = Ours::kAcked;
    return true;
  }
  /// Left, and not proved empty yet.
  bool awaited() const noexcept { return ours_ == Ours::kDue || ours_ == Ours::kSent; }
  bool left() const noexcept { return ours_ != Ours::kNone; }
  bool acked() const noexcept { return ours_ == Ours::kAcked; }
  /// Data of large messages was posted on the path; no number of the ordered lane shows it.
  void on_placed() noexcept { placed_ = true; }
  /// ... since our last marker.
  bool placed() const noexcept { return placed_; }

  // What the peer sends.
  /// An ordered frame has come on this path. sequence: of the frame.
  void on_ordered(std::uint64_t sequence) noexcept {
    if (theirs_ != Theirs::kSending) peer_since_ = sequence;
    theirs_ = Theirs::kSending;
  }
  /// The peer's marker has come. false: not a number that a marker can have; nothing has changed.
  bool on_marker(std::uint64_t ordinal) noexcept {
    if (ordinal == 0) return false;
    theirs_ = Theirs::kLeft;
    answer_due_ = ordinal;
    return true;
  }
  /// The number of the peer's marker that is to be acknowledged; 0: none is.
  std::uint64_t answer_due() const noexcept { return answer_due_; }
  void on_answered() noexcept { answer_due_ = 0; }
  bool peer_sends() const noexcept { return theirs_ == Theirs::kSending; }
  bool peer_left() const noexcept { return theirs_ == Theirs::kLeft; }
  /// The first number that came since the peer began, or began again, to send here.
  std::uint64_t peer_since() const noexcept { return peer_since_; }

  /// Each end has proved that nothing of its own is on its way.
  bool both_left() const noexcept { return acked() && peer_left(); }

  Ours ours() const noexcept { return ours_; }
  Theirs theirs() const noexcept { return theirs_; }

 private:
  Ours ours_ = Ours::kNone;
  Theirs theirs_ = Theirs::kNone;
  bool placed_ = false;
  std::uint64_t ordinal_ = 0;     // of our last marker on this path
  std::uint64_t answer_due_ = 0;  // of the peer's marker; stays due even if the peer comes back
  std::uint64_t peer_since_ = 0;
};

}  // namespace livebtl::core
