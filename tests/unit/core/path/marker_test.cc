// SPDX-License-Identifier: BSD-3-Clause
// Every state of both machines of a Marker meets every event.
#include "core/path/marker.h"

#include <doctest/doctest.h>

#include <cstddef>

using livebtl::core::Marker;
using Ours = Marker::Ours;
using Theirs = Marker::Theirs;

namespace {

/// In that state of ours, after an earlier round: the last marker, if one was sent, is number 2.
Marker ours_in(Ours state) {
  Marker marker;
  marker.leave();
  marker.on_posted();
  CHECK(marker.on_ack(1));
  marker.rejoin();
  if (state == Ours::kNone) return marker;
  marker.leave();
  if (state == Ours::kDue) return marker;
  marker.on_posted();
  if (state == Ours::kAcked) CHECK(marker.on_ack(2));
  return marker;
}

Marker theirs_in(Theirs state) {
  Marker marker;
  if (state == Theirs::kNone) return marker;
  marker.on_ordered(10);
  if (state == Theirs::kLeft) CHECK(marker.on_marker(1));
  return marker;
}

constexpr Ours kAllOurs[] = {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked};
constexpr Theirs kAllTheirs[] = {Theirs::kNone, Theirs::kSending, Theirs::kLeft};

struct OursCase {
  const char* event;
  void (*apply)(Marker&);
  Ours after[4];  // from kNone, kDue, kSent, kAcked
};

constexpr OursCase kOursCases[] = {
    {"leave",
     [](Marker& marker) { marker.leave(); },
     {Ours::kDue, Ours::kDue, Ours::kDue, Ours::kDue}},
    {"leave_too",
     [](Marker& marker) { marker.leave_too(); },
     {Ours::kDue, Ours::kDue, Ours::kSent, Ours::kAcked}},
    {"rejoin",
     [](Marker& marker) { marker.rejoin(); },
     {Ours::kNone, Ours::kNone, Ours::kNone, Ours::kNone}},
    {"acknowledgement of the last marker",
     [](Marker& marker) { marker.on_ack(2); },
     {Ours::kNone, Ours::kDue, Ours::kAcked, Ours::kAcked}},
    {"acknowledgement of an earlier one",
     [](Marker& marker) { marker.on_ack(1); },
     {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked}},
    {"acknowledgement of one never sent",
     [](Marker& marker) { marker.on_ack(3); },
     {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked}},
    {"placed data",
     [](Marker& marker) { marker.on_placed(); },
     {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked}},
    {"an ordered frame of the peer",
     [](Marker& marker) { marker.on_ordered(7); },
     {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked}},
    {"the peer's marker",
     [](Marker& marker) { marker.on_marker(1); },
     {Ours::kNone, Ours::kDue, Ours::kSent, Ours::kAcked}},
};

}  // namespace

TEST_CASE("what we send: every state and every event") {
  for (const OursCase& each : kOursCases) {
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(each.event);
      CAPTURE(i);
      Marker marker = ours_in(kAllOurs[i]);
      REQUIRE(marker.ours() == kAllOurs[i]);
      each.apply(marker);
      CHECK(marker.ours() == each.after[i]);
    }
  }
}

TEST_CASE("each state of ours says what it is") {
  for (const Ours state : kAllOurs) {
    CAPTURE(static_cast<int>(state));
    const Marker marker = ours_in(state);
    CHECK(marker.due() == (state == Ours::kDue));
    CHECK(marker.awaited() == (state == Ours::kDue || state == Ours::kSent));
    CHECK(marker.left() == (state != Ours::kNone));
    CHECK(marker.acked() == (state == Ours::kAcked));
    CHECK_FALSE(marker.both_left());
  }
}

TEST_CASE("only the acknowledgement of the last marker proves anything") {
  Marker marker = ours_in(Ours::kNone);
  CHECK(marker.next() == 2);
  marker.leave();
  CHECK_FALSE(marker.on_ack(2));  // due, not sent
  CHECK(marker.next() == 2);
  marker.on_posted();
  CHECK(marker.next() == 3);
  CHECK_FALSE(marker.on_ack(0));
  CHECK_FALSE(marker.on_ack(1));
  CHECK_FALSE(marker.acked());
  CHECK(marker.on_ack(2));
  CHECK(marker.acked());
  CHECK(marker.on_ack(2));  // acknowledged twice
  marker.leave();           // the path was used since, for placed data
  CHECK_FALSE(marker.on_ack(2));
  CHECK_FALSE(marker.acked());
}

TEST_CASE("placed data counts until the next marker is behind it") {
  Marker marker;
  CHECK_FALSE(marker.placed());
  marker.on_placed();
  CHECK(marker.placed());
  marker.leave();
  CHECK(marker.placed());
  marker.on_posted();
  CHECK_FALSE(marker.placed());
  marker.on_placed();
  CHECK(marker.on_ack(1));
  CHECK(marker.placed());
  marker.rejoin();
  CHECK(marker.placed());
}

TEST_CASE("what the peer sends: an ordered frame in every state") {
  for (const Theirs state : kAllTheirs) {
    CAPTURE(static_cast<int>(state));
    Marker marker = theirs_in(state);
    REQUIRE(marker.theirs() == state);
    marker.on_ordered(20);
    CHECK(marker.peer_sends());
    CHECK_FALSE(marker.peer_left());
    CHECK(marker.peer_since() == (state == Theirs::kSending ? 10U : 20U));
  }
}

TEST_CASE("what the peer sends: a marker in every state, and its answer") {
  for (const Theirs state : kAllTheirs) {
    CAPTURE(static_cast<int>(state));
    Marker marker = theirs_in(state);
    CHECK(marker.on_marker(2));
    CHECK(marker.peer_left());
    CHECK_FALSE(marker.peer_sends());
    CHECK(marker.answer_due() == 2);
    marker.on_answered();
    CHECK(marker.answer_due() == 0);
    CHECK(marker.peer_left());
  }
}

TEST_CASE("what the peer sends: a marker of number 0, and what we do, change nothing") {
  for (const Theirs state : kAllTheirs) {
    CAPTURE(static_cast<int>(state));
    Marker marker = theirs_in(state);
    const std::uint64_t due = marker.answer_due();
    CHECK_FALSE(marker.on_marker(0));
    marker.leave();
    marker.on_posted();
    CHECK(marker.on_ack(1));
    marker.rejoin();
    CHECK(marker.theirs() == state);
    CHECK(marker.answer_due() == due);
  }
}

TEST_CASE("an answer stays due though the peer comes back before it is given") {
  Marker marker = theirs_in(Theirs::kLeft);
  marker.on_ordered(11);
  CHECK(marker.peer_sends());
  CHECK(marker.answer_due() == 1);
  CHECK(marker.on_marker(2));  // it leaves again: only the last is answered
  CHECK(marker.answer_due() == 2);
}

TEST_CASE("both ends have left once ours is acknowledged and theirs has come") {
  Marker marker;
  marker.leave();
  marker.on_posted();
  CHECK(marker.on_ack(1));
  CHECK_FALSE(marker.both_left());
  CHECK(marker.on_marker(1));
  CHECK(marker.both_left());
  SUBCASE("until the peer comes back") { marker.on_ordered(5); }
  SUBCASE("until we come back") { marker.rejoin(); }
  SUBCASE("until we have to leave again") { marker.leave(); }
  CHECK_FALSE(marker.both_left());
}
