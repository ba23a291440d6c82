// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/delivery.cc -- behaviours: every frame that a transport took arrives once, in
// order, unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

/// `count` frames whose sizes are drawn from `seed`: mostly small, some of any size.
std::vector<Expected> mixed_frames(const Rig& rig, std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Expected> frames(count);
  for (Expected& frame : frames) {
    frame.seed = random.next();
    frame.header_bytes = 1 + random.below(core::kHeaderBytesMax);
    frame.payload_bytes = random.below(random.chance(0.1) ? rig.payload_max() + 1 : 200);
  }
  return frames;
}

void frames_arrive_once_and_in_order(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto frames = mixed_frames(rig, 1, 2000);
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  rig.settle();
  check_received(*link.b, frames);
  CHECK(link.a->received.empty());
}

void acceptor_sends_as_well(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto frames = mixed_frames(rig, 2, 500);
  REQUIRE(transfer(rig, *link.b, *link.a, frames));
  check_received(*link.a, frames);
}

// What the sender had posted and the receiver was placing still arrives, through copies.
void lets_go_of_memory(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const Blob header = pattern(3, 16);
  const Blob payload = pattern(4, rig.payload_max());
  Blob lent = payload;
  Blob place(rig.payload_max());
  bool may_place = true;
  link.b->place = [&](Bytes, std::size_t payload_bytes) {
    return may_place ? MutableBytes(place).first(payload_bytes) : MutableBytes{};
  };
  std::uint64_t posted = 0, lent_frames = 0;
  for (;; ++posted) {
    const Post post = link.a->endpoint().post({header, lent, posted, true});
    if (post == Post::kRetry) break;
    lent_frames += post == Post::kPosted ? 1 : 0;
    REQUIRE_MESSAGE(posted < 1'000'000, "a receiver that rests must lead to kRetry");
  }
  // Part of it is in flight when both sides want their memory back.
  for (int i = 0; i < 3; ++i) rig.turn();
  link.a->endpoint().let_go();
  link.b->endpoint().let_go();
  std::fill(lent.begin(), lent.end(), std::byte{0xEE});
  std::fill(place.begin(), place.end(), std::byte{0xDD});
  may_place = false;
  REQUIRE(rig.until(
      [&] { return link.b->received.size() == posted && link.a->sent.size() == lent_frames; }));
  for (const auto& frame : link.b->received) CHECK(frame.payload == payload);
  CHECK(std::all_of(place.begin(), place.end(), [](std::byte b) { return b == std::byte{0xDD}; }));
}

void floods_both_ways_do_not_deadlock(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const std::vector<Expected> frames(300, Expected{9, 16, rig.payload_max()});
  std::size_t from_a = 0;
  std::size_t from_b = 0;
  link.a->keep_frames = link.b->keep_frames = false;
  const Blob header = pattern(9, 16);
  const Blob payload = pattern(10, rig.payload_max());
  const auto flood = [&](End& end, std::size_t& posted) {
    while (posted < frames.size() &&
           end.endpoint().post({header, payload, 0, false}) != Post::kRetry)
      ++posted;
  };
  REQUIRE(rig.until([&] {
    flood(*link.a, from_a);
    flood(*link.b, from_b);
    return link.a->frames == frames.size() && link.b->frames == frames.size();
  }));
}

void retry_changes_nothing(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  std::uint64_t seed = 100;
  const std::size_t bytes = std::min<std::size_t>(rig.payload_max(), 8000);
  while (link.a->post_pattern(seed, 24, bytes) != Post::kRetry) {
    frames.push_back({seed++, 24, bytes});
    REQUIRE_MESSAGE(frames.size() < 1'000'000, "a receiver that rests must lead to kRetry");
  }
  for (int i = 0; i < 1000; ++i) {
    const auto before = link.a->endpoint().stats();
    const std::size_t in_flight = link.a->endpoint().in_flight();
    if (link.a->post_pattern(seed, 24, bytes) !=
        Post::kRetry) {  // the kernel may make room meanwhile
      frames.push_back({seed++, 24, bytes});
      continue;
    }
    REQUIRE(link.a->endpoint().stats().frames_sent == before.frames_sent);
    REQUIRE(link.a->endpoint().stats().bytes_sent == before.bytes_sent);
    REQUIRE(link.a->endpoint().in_flight() == in_flight);
  }
  REQUIRE(rig.until([&] { return link.b->frames == frames.size(); }));
  rig.settle();
  check_received(*link.b, frames);
}

void payload_that_is_not_stable_is_copied(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{300}, std::size_t{rig.payload_max()}}) {
    const Expected frame{bytes * 3, 40, bytes};
    Blob header = pattern(frame.seed, 40);
    Blob payload = pattern(frame.seed + 1, bytes);
    REQUIRE(rig.until([&] {
      const Post post = link.a->endpoint().post({header, payload, 5, false});
      CHECK_MESSAGE(post != Post::kPosted, "kPosted is for stable payloads only");
      return post != Post::kRetry;
    }));
    std::fill(header.begin(), header.end(), std::byte{0xEE});
    std::fill(payload.begin(), payload.end(), std::byte{0xEE});
    frames.push_back(frame);
  }
  REQUIRE(rig.until([&] { return link.b->frames == frames.size(); }));
  check_received(*link.b, frames);
  CHECK(link.a->sent.empty());
}

void stable_payload_is_given_back_once(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto frames = mixed_frames(rig, 3, 300);
  std::deque<Blob> payloads;  // must not move
  std::vector<std::uint64_t> posted;
  std::size_t next = 0;
  REQUIRE(rig.until([&] {
    if (next < frames.size()) {
      const Expected& frame = frames[next];
      payloads.push_back(pattern(frame.seed + 1, frame.payload_bytes));
      Blob header = pattern(frame.seed, frame.header_bytes);
      const Post post = link.a->endpoint().post({header, payloads.back(), next, true});
      std::fill(header.begin(), header.end(), std::byte{0xEE});  // the header is always copied
      if (post == Post::kPosted) posted.push_back(next);
      if (post == Post::kRetry)
        payloads.pop_back();
      else
        ++next;
      if (post == Post::kDone)
        std::fill(payloads.back().begin(), payloads.back().end(), std::byte{0xEE});
    }
    return link.b->frames == frames.size() && link.a->sent.size() >= posted.size();
  }));
  rig.settle();
  check_received(*link.b, frames);
  std::sort(link.a->sent.begin(), link.a->sent.end());
  CHECK(link.a->sent == posted);
}

void in_flight_reaches_zero(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto frames = mixed_frames(rig, 4, 200);
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  CHECK(rig.until([&] { return link.a->endpoint().in_flight() == 0; }));
  CHECK(link.b->endpoint().in_flight() == 0);
}

void placed_or_not_the_bytes_are_right(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto frames = mixed_frames(rig, 5, 300);
  Blob place(rig.payload_max());
  std::size_t asked = 0;
  link.b->place = [&](Bytes header, std::size_t payload_bytes) {
    CHECK(!header.empty());
    CHECK(payload_bytes <= place.size());
    const bool refuse = ++asked % 3 == 0;
    return refuse ? MutableBytes{}
                  : MutableBytes(place).first(payload_bytes +
                                              asked % 2 * (place.size() - payload_bytes));
  };
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  check_received(*link.b, frames);
}

void a_sink_may_post(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const std::size_t rounds = 500;
  link.a->keep_frames = link.b->keep_frames = false;
  std::size_t owed_by_b = 0;  // echoes not taken at once
  link.b->on_each = [&](Bytes header, Bytes payload) {
    if (link.b->endpoint().post({header, payload, 0, false}) == Post::kRetry) ++owed_by_b;
  };
  std::size_t asked = 0;
  REQUIRE(rig.until([&] {
    if (asked == link.a->frames && asked < rounds &&
        link.a->post_pattern(1, 8, 100) != Post::kRetry)
      ++asked;
    if (owed_by_b > 0 && link.b->post_pattern(1, 8, 100) != Post::kRetry) --owed_by_b;
    return link.a->frames == rounds;
  }));
}

void nothing_is_delivered_before_attach(const Subject& subject) {
  Rig rig(subject);
  End a;
  End b;
  a.take(rig.dial(rig.a(), rig.b()));
  std::vector<Expected> frames;
  REQUIRE(rig.until([&] {
    if (frames.size() < 3) {
      const Expected frame{200 + frames.size(), 24, 64};
      if (a.post_pattern(frame.seed, 24, 64) != Post::kRetry) frames.push_back(frame);
    }
    return frames.size() == 3 && !rig.b().accepted.empty();
  }));
  rig.settle();
  b.take(std::move(rig.b().accepted.front()));
  rig.b().accepted.pop_front();
  REQUIRE(rig.until([&] { return b.frames == frames.size(); }));
  check_received(b, frames);
}

void statistics_count_frames_and_bytes(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  const auto sent_before = link.a->endpoint().stats();
  const auto received_before = link.b->endpoint().stats();
  const auto frames = mixed_frames(rig, 6, 100);
  std::size_t bytes = 0;
  for (const Expected& frame : frames) bytes += frame.header_bytes + frame.payload_bytes;
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  const auto sent = link.a->endpoint().stats();
  const auto received = link.b->endpoint().stats();
  CHECK(sent.frames_sent - sent_before.frames_sent == frames.size());
  CHECK(sent.bytes_sent - sent_before.bytes_sent == bytes);
  CHECK(received.frames_received - received_before.frames_received == frames.size());
  CHECK(received.bytes_received - received_before.bytes_received == bytes);
}

void many_endpoints_keep_their_frames_apart(const Subject& subject) {
  Rig rig(subject);
  std::vector<Link> links;
  for (std::size_t i = 0; i < subject.endpoints_many; ++i)
    links.push_back(i % 2 == 0 ? rig.link() : rig.link(rig.b(), rig.a()));
  const std::size_t each = 20;
  std::vector<std::size_t> posted(links.size());
  REQUIRE(rig.until([&] {
    bool all = true;
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (posted[i] < each &&
          links[i].a->post_pattern(i * 1000 + posted[i], 32, 500) != Post::kRetry)
        ++posted[i];
      all = all && links[i].b->frames == each;
    }
    return all;
  }));
  for (std::size_t i = 0; i < links.size(); ++i) {
    std::vector<Expected> frames;
    for (std::size_t k = 0; k < each; ++k) frames.push_back({i * 1000 + k, 32, 500});
    check_received(*links[i].b, frames);
  }
}

constexpr std::array kDeliveryBehaviours{
    Behaviour{"every frame taken arrives once and in order", frames_arrive_once_and_in_order},
    Behaviour{"the acceptor sends as well", acceptor_sends_as_well},
    Behaviour{"floods both ways do not deadlock", floods_both_ways_do_not_deadlock},
    Behaviour{"a retry changes nothing", retry_changes_nothing},
    Behaviour{"payload that is not stable is copied", payload_that_is_not_stable_is_copied},
    Behaviour{"stable payload is given back exactly once", stable_payload_is_given_back_once},
    Behaviour{"in_flight reaches zero", in_flight_reaches_zero},
    Behaviour{"let_go() gives memory back at once, and loses nothing", lets_go_of_memory},
    Behaviour{"placed or not, the bytes are right", placed_or_not_the_bytes_are_right},
    Behaviour{"a sink may post", a_sink_may_post},
    Behaviour{"nothing is delivered before attach", nothing_is_delivered_before_attach},
    Behaviour{"statistics count frames and bytes", statistics_count_frames_and_bytes},
    Behaviour{"many endpoints keep their frames apart", many_endpoints_keep_their_frames_apart},
};

}  // namespace

std::span<const Behaviour> delivery_behaviours() { return kDeliveryBehaviours; }

}  // namespace livebtl::conformance
