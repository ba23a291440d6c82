// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/lending.cc -- behaviours of transports whose devices fetch large payloads from
// where they lie (caps().lent_bytes_max): in order with all else, and nobody's memory is touched
// once he has it back. All others pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

bool lends(const Rig& rig) { return rig.lent_max() != 0; }

/// Payloads that stay where they are, the way there, and what was answered.
struct Loans {
  explicit Loans(End& its_end) : end(its_end) {}

  /// false: not now. What the transport would rather have in pieces counts as not lent.
  bool lend(std::uint64_t cookie, std::size_t bytes) {
    const Blob header = pattern(cookie, 24);
    payloads.push_back(pattern(cookie + 1, bytes));
    const Post post = end.endpoint().post({header, payloads.back(), cookie, true});
    CHECK_MESSAGE(post != Post::kDone, "what is lent is kPosted");
    if (post == Post::kPosted) posted.push_back(cookie);
    if (post != Post::kPosted) payloads.pop_back();
    return post == Post::kPosted;
  }
  /// Some that are on their way at once, without a turn of anybody.
  void lend_at_once(std::size_t count, std::size_t bytes) {
    for (int tries = 0; tries < 1000 && posted.size() < count; ++tries) lend(posted.size(), bytes);
    REQUIRE(posted.size() == count);
  }
  void overwrite() {
    for (Blob& payload : payloads) std::fill(payload.begin(), payload.end(), std::byte{0xEE});
  }

  End& end;
  std::deque<Blob> payloads;
  std::vector<std::uint64_t> posted;
};

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

/// In the middle of it, `wants` has its memory back: what it writes there stays, and what arrives
/// is right, or the connection ends.
void memory_is_wanted_back(const Subject& subject, std::unique_ptr<End> Link::*wants) {
  for (int turns = 0; turns < 6; ++turns) {
    Rig rig(subject);
    if (!lends(rig)) return;
    Link link = rig.link();
    Blob place(rig.lent_max(), std::byte{0});
    link.b->place = [&](Bytes, std::size_t) { return MutableBytes(place); };
    Loans loans(*link.a);
    loans.lend_at_once(2, rig.lent_max());
    for (int i = 0; i < turns; ++i) rig.turn();
    link.b->place = nullptr;
    const Blob seen = place;
    (link.*wants)->endpoint().let_go();
    if (wants == &Link::a) loans.overwrite();
    if (wants == &Link::b) std::fill(place.begin(), place.end(), std::byte{0xDD});
    REQUIRE(rig.until([&] {
      return link.b->frames == loans.posted.size() ||
             (!link.a->downs.empty() && !link.b->downs.empty());
    }));
    rig.settle();
    for (std::size_t i = 0; i < link.b->received.size(); ++i)
      CHECK(link.b->received[i].payload == pattern(i + 1, rig.lent_max()));
    if (wants == &Link::b)
      CHECK(std::ranges::all_of(place, [](std::byte each) { return each == std::byte{0xDD}; }));
  }
}
void the_lender_wants_its_memory_back(const Subject& subject) {
  memory_is_wanted_back(subject, &Link::a);
}
void the_borrower_wants_its_memory_back(const Subject& subject) {
  memory_is_wanted_back(subject, &Link::b);
}

/// In the middle of it one end closes; the memory of both is theirs then.
void closing_in_the_middle(const Subject& subject) {
  for (int turns = 0; turns < 8; ++turns) {
    Rig rig(subject);
    if (!lends(rig)) return;
    Link link = rig.link();
    Blob place(rig.lent_max());
    link.b->place = [&](Bytes, std::size_t) { return MutableBytes(place); };
    Loans loans(*link.a);
    loans.lend_at_once(2, rig.lent_max());
    for (int i = 0; i < turns / 2; ++i) rig.turn();
    End& closing = turns % 2 == 0 ? *link.a : *link.b;
    End& other = turns % 2 == 0 ? *link.b : *link.a;
    closing.close();
    if (turns % 2 == 0) loans.overwrite();
    if (turns % 2 == 1) std::fill(place.begin(), place.end(), std::byte{0xDD});
    REQUIRE(rig.until([&] { return !other.downs.empty(); }));
    rig.settle();
    for (std::size_t i = 0; i < link.b->received.size(); ++i)
      CHECK(link.b->received[i].payload == pattern(i + 1, rig.lent_max()));
    if (turns % 2 == 1)
      CHECK(std::ranges::all_of(place, [](std::byte each) { return each == std::byte{0xDD}; }));
    Link again = rig.link();
    REQUIRE(transfer(rig, *again.a, *again.b, {{1, 8, 8}}));
  }
}

/// Who is not trusted is told nothing that would let it lend, or is put out for lending.
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
    Behaviour{"who lends has his memory back at once", the_lender_wants_its_memory_back},
    Behaviour{"who fetches has his memory back at once", the_borrower_wants_its_memory_back},
    Behaviour{"closing while something is lent", closing_in_the_middle},
    Behaviour{"an untrusted peer lends nothing", an_untrusted_peer_lends_nothing},
};

}  // namespace

std::span<const Behaviour> lending_behaviours() { return kBehaviours; }

}  // namespace livebtl::conformance
