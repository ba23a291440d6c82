// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/lending.cc -- behaviours of transports whose devices fetch large payloads from
// where they lie (caps().lent_bytes_max): in order with all else, and nobody's memory is touched
// once he has it back. All others pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/loans.h"

namespace livebtl::conformance {
namespace {

/// Lends, and sends small frames between, until so many of either have arrived.
std::vector<Expected> lend_among_others(Rig& rig, Link& link, Loans& loans, std::size_t count) {
  std::vector<Expected> frames;
  const std::array sizes{rig.lent_max(), rig.lent_min(), rig.lent_max() - 13};
  REQUIRE(rig.until([&] {
    const std::size_t next = frames.size();
    if (next < 2 * count && next % 2 == 0) {
      const std::size_t bytes = sizes[next / 2 % sizes.size()];
      if (loans.lend(next, bytes)) frames.push_back({next, 24, bytes});
    } else if (next < 2 * count && link.a->post_pattern(next, 16, 100) != Post::kRetry) {
      frames.push_back({next, 16, 100});
    }
    return link.b->frames == 2 * count;
  }));
  return frames;
}

void lent_payloads_arrive_in_order_and_in_place(const Subject& subject) {
  Rig rig(subject);
  if (!lends(rig)) return;
  Link link = rig.link();
  Blob place(rig.lent_max());
  std::size_t asked = 0, in_place = 0;
  link.b->place = [&](Bytes, std::size_t) {
    ++asked;
    return MutableBytes(place);
  };
  link.b->on_each = [&](Bytes, Bytes payload) { in_place += payload.data() == place.data(); };
  Loans loans(*link.a);
  const auto frames = lend_among_others(rig, link, loans, 12);
  rig.settle();
  check_received(*link.b, frames);
  CHECK(in_place == asked);
  CHECK(link.a->sent == loans.posted);
  CHECK(link.a->endpoint().in_flight() == 0);
  CHECK(link.a->endpoint().stats().frames_lent == 12);
  CHECK(link.b->endpoint().stats().frames_fetched == 12);
}

void lent_payloads_arrive_without_a_place(const Subject& subject) {
  Rig rig(subject);
  if (!lends(rig)) return;
  Link link = rig.link();
  Loans loans(*link.a);
  check_received(*link.b, lend_among_others(rig, link, loans, 6));
}

void lends_both_ways(const Subject& subject) {
  Rig rig(subject);
  if (!lends(rig)) return;
  Link link = rig.link();
  link.a->keep_frames = link.b->keep_frames = false;
  Loans there(*link.a), back(*link.b);
  constexpr std::size_t kEach = 20;
  REQUIRE(rig.until([&] {
    for (Loans* loans : {&there, &back}) {
      if (loans->posted.size() < kEach) loans->lend(loans->posted.size(), rig.lent_min());
    }
    return link.a->frames == kEach && link.b->frames == kEach;
  }));
  REQUIRE(rig.until([&] { return link.a->sent.size() == kEach && link.b->sent.size() == kEach; }));
}

void a_receiver_that_rests_is_lent_little(const Subject& subject) {
  Rig rig(subject);
  if (!lends(rig)) return;
  Link link = rig.link();
  Loans loans(*link.a);
  for (int refused = 0; refused < 500; ++refused) {
    while (loans.lend(loans.posted.size(), rig.lent_max())) REQUIRE(loans.posted.size() < 100);
    rig.turn_sender(rig.a());
  }
  CHECK(!loans.posted.empty());
  CHECK(link.a->endpoint().in_flight() != 0);
  REQUIRE(rig.until(
      [&] { return link.a->sent == loans.posted && link.b->frames == loans.posted.size(); }));
}

/// A peer that is not trusted is sent nothing that would let it lend, or is cut off if it does lend.
void an_untrusted_peer_lends_nothing(const Subject& subject) {
  Rig rig(subject);
  if (!lends(rig)) return;
  Link link = rig.link(rig.a(), rig.b(), false);
  link.a->endpoint().trust();
  Loans loans(*link.a);
  for (int turns = 0; turns < 1000 && loans.posted.empty(); ++turns) {
    loans.lend(1, rig.lent_min());
    rig.turn();
  }
  REQUIRE(loans.posted.empty() == subject.lends_to_trusted);
  if (!loans.posted.empty()) {
    REQUIRE(rig.until([&] { return !link.b->downs.empty() && !link.a->downs.empty(); }));
    CHECK(link.b->downs[0].code == Errc::kCorrupt);
  }
  CHECK(link.b->frames == 0);
}

constexpr std::array kBehaviours{
    Behaviour{"what is lent arrives in order with all else, in place",
              lent_payloads_arrive_in_order_and_in_place},
    Behaviour{"what is lent arrives without a place, too", lent_payloads_arrive_without_a_place},
    Behaviour{"both ends lend at once", lends_both_ways},
    Behaviour{"a receiver that rests is lent a bounded number",
              a_receiver_that_rests_is_lent_little},
    Behaviour{"an untrusted peer lends nothing", an_untrusted_peer_lends_nothing},
};

}  // namespace

std::span<const Behaviour> lending_behaviours() { return kBehaviours; }

}  // namespace livebtl::conformance
