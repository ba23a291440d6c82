// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/zero_copy.cc -- behaviours of transports where the peer reads large payloads
// from where they lie (caps().zero_copy_bytes_max): in order with everything else, and no memory is
// touched once its owner has it back. All others pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/zero_copy.h"

namespace livebtl::conformance {
namespace {

/// Exposes, with small frames in between, until `count` of each have arrived.
std::vector<Expected> expose_among_others(Rig& rig, Link& link, Exposures& exposures,
                                          std::size_t count) {
  std::vector<Expected> frames;
  const std::array sizes{rig.zero_copy_max(), rig.zero_copy_min(), rig.zero_copy_max() - 13};
  REQUIRE(rig.until([&] {
    const std::size_t next = frames.size();
    if (next < 2 * count && next % 2 == 0) {
      const std::size_t bytes = sizes[next / 2 % sizes.size()];
      if (exposures.expose(next, bytes)) frames.push_back({next, 24, bytes});
    } else if (next < 2 * count && link.a->post_pattern(next, 16, 100) != Post::kRetry) {
      frames.push_back({next, 16, 100});
    }
    return link.b->frames == 2 * count;
  }));
  return frames;
}

void exposed_payloads_arrive_in_order_and_in_place(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link();
  Blob place(rig.zero_copy_max());
  std::size_t asked = 0, in_place = 0;
  link.b->place = [&](Bytes, std::size_t) {
    ++asked;
    return MutableBytes(place);
  };
  link.b->on_each = [&](Bytes, Bytes payload) { in_place += payload.data() == place.data(); };
  Exposures exposures(*link.a);
  const auto frames = expose_among_others(rig, link, exposures, 12);
  rig.settle();
  check_received(*link.b, frames);
  CHECK(in_place == asked);
  CHECK(link.a->sent == exposures.posted);
  CHECK(link.a->endpoint().in_flight() == 0);
  CHECK(link.a->endpoint().stats().frames_exposed == 12);
  CHECK(link.b->endpoint().stats().frames_read_remotely == 12);
}

void exposed_payloads_arrive_without_a_place(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link();
  Exposures exposures(*link.a);
  check_received(*link.b, expose_among_others(rig, link, exposures, 6));
}

void both_ways_at_once(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link();
  link.a->keep_frames = link.b->keep_frames = false;
  Exposures there(*link.a), back(*link.b);
  constexpr std::size_t kEach = 20;
  REQUIRE(rig.until([&] {
    for (Exposures* exposures : {&there, &back}) {
      if (exposures->posted.size() < kEach)
        exposures->expose(exposures->posted.size(), rig.zero_copy_min());
    }
    return link.a->frames == kEach && link.b->frames == kEach;
  }));
  REQUIRE(rig.until([&] { return link.a->sent.size() == kEach && link.b->sent.size() == kEach; }));
}

void a_receiver_that_rests_is_exposed_little(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link();
  Exposures exposures(*link.a);
  for (int refused = 0; refused < 500; ++refused) {
    while (exposures.expose(exposures.posted.size(), rig.zero_copy_max()))
      REQUIRE(exposures.posted.size() < 100);
    rig.turn_sender(rig.a());
  }
  CHECK(!exposures.posted.empty());
  CHECK(link.a->endpoint().in_flight() != 0);
  REQUIRE(rig.until([&] {
    return link.a->sent == exposures.posted && link.b->frames == exposures.posted.size();
  }));
}

/// An untrusted peer is sent nothing that would let it expose, or is cut off if it does.
void an_untrusted_peer_exposes_nothing(const Subject& subject) {
  Rig rig(subject);
  if (!exposes(rig)) return;
  Link link = rig.link(rig.a(), rig.b(), false);
  link.a->endpoint().trust();
  Exposures exposures(*link.a);
  for (int turns = 0; turns < 1000 && exposures.posted.empty(); ++turns) {
    exposures.expose(1, rig.zero_copy_min());
    rig.turn();
  }
  REQUIRE(exposures.posted.empty() == subject.exposes_to_trusted);
  if (!exposures.posted.empty()) {
    REQUIRE(rig.until([&] { return !link.b->downs.empty() && !link.a->downs.empty(); }));
    CHECK(link.b->downs[0].code == Errc::kCorrupt);
  }
  CHECK(link.b->frames == 0);
}

constexpr std::array kZeroCopyBehaviours{
    Behaviour{"what is exposed arrives in order with all else, in place",
              exposed_payloads_arrive_in_order_and_in_place},
    Behaviour{"what is exposed arrives without a place, too",
              exposed_payloads_arrive_without_a_place},
    Behaviour{"both ends expose at once", both_ways_at_once},
    Behaviour{"a receiver that rests is exposed a bounded number",
              a_receiver_that_rests_is_exposed_little},
    Behaviour{"an untrusted peer exposes nothing", an_untrusted_peer_exposes_nothing},
};

}  // namespace

std::span<const Behaviour> zero_copy_behaviours() { return kZeroCopyBehaviours; }

}  // namespace livebtl::conformance
