// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/limits.cc -- behaviours: sizes at their bounds, budgets, back-pressure,
// untrusted peers.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

/// A transport that takes more than this for a receiver at rest does not bound its memory.
constexpr std::size_t kTakenBytesMax = 64u << 20;

/// 0, the largest, and all powers of two between, each with its neighbours.
std::set<std::size_t> boundary_sizes(std::size_t max) {
  std::set<std::size_t> sizes{0, max, max - 1};
  for (std::size_t power = 1; power <= max; power *= 2)
    for (const std::size_t size : {power - 1, power, power + 1, power + power / 2})
      if (size <= max) sizes.insert(size);
  return sizes;
}

void payloads_of_all_sizes(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  for (const std::size_t size : boundary_sizes(rig.payload_max())) {
    frames.push_back({size + 50, 24, size});
    frames.push_back({size + 51, core::kHeaderBytesMax, size});
    frames.push_back({size + 52, 1, size});
  }
  for (std::size_t size = 0; size <= 300; ++size) frames.push_back({size, 17, size});
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  check_received(*link.b, frames);
}

void headers_of_all_sizes(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  for (std::size_t header = 1; header <= core::kHeaderBytesMax; ++header)
    for (const std::size_t payload :
         {std::size_t{0}, std::size_t{8}, std::size_t{61}, std::size_t{1024}})
      frames.push_back({header * 10 + payload, header, payload});
  REQUIRE(transfer(rig, *link.a, *link.b, frames));
  check_received(*link.b, frames);
}

void a_receiver_that_rests_is_waited_for(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{64}, std::size_t{rig.payload_max()}}) {
    const std::size_t frame_bytes = bytes + 64;
    const std::size_t before = link.b->frames;
    std::size_t taken = 0;
    link.b->keep_frames = false;
    const Blob header = pattern(1, 64);
    const Blob payload = pattern(2, bytes);
    const Frame frame{header, payload, 0, false};
    for (int refused = 0; refused < 2000;) {
      if (link.a->endpoint().post(frame) == Post::kRetry) {
        ++refused;
        rig.turn_sender(rig.a());
        continue;
      }
      refused = 0;
      ++taken;
      REQUIRE_MESSAGE(taken * frame_bytes < kTakenBytesMax, "memory for a receiver that rests");
    }
    CHECK(taken > 0);
    REQUIRE(rig.until([&] { return link.b->frames == before + taken; }));
  }
}

void progress_keeps_to_its_budget(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  for (std::uint64_t seed = 0; seed < 24; ++seed) frames.push_back({seed, 16, 32});
  std::size_t next = 0;
  // As far as the transport takes them without progress at the receiver.
  for (int turn = 0; turn < 200; ++turn) {
    if (next < frames.size() && link.a->post_pattern(frames[next].seed, 16, 32) != Post::kRetry)
      ++next;
    rig.turn_sender(rig.a());
  }
  REQUIRE(next >= 4);
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  for (const std::size_t budget : {std::size_t{1}, std::size_t{3}}) {
    const std::size_t until_frames = budget == 1 ? next / 2 : next;
    while (link.b->frames < until_frames) {
      const std::size_t before = link.b->frames;
      const std::size_t moved = rig.b().turn(budget);
      REQUIRE(link.b->frames - before <= budget);
      REQUIRE(moved <= budget);
      REQUIRE(link.b->frames - before <= moved);
      rig.turn_sender(rig.a());
      REQUIRE(monotonic_now() < deadline);
    }
  }
  CHECK(link.b->frames == next);
}

void an_untrusted_peer_sends_little(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link(rig.a(), rig.b(), false);
  link.a->endpoint().trust();
  const std::vector<Expected> hello{{1, 64, core::kUntrustedPayloadMax}};
  REQUIRE(transfer(rig, *link.a, *link.b, hello));
  check_received(*link.b, hello);
  REQUIRE(rig.payload_max() > core::kUntrustedPayloadMax);
  REQUIRE(rig.until(
      [&] { return link.a->post_pattern(2, 64, core::kUntrustedPayloadMax + 1) != Post::kRetry; }));
  REQUIRE(rig.until([&] { return !link.b->downs.empty() && !link.a->downs.empty(); }));
  CHECK(link.b->downs[0].code == Errc::kCorrupt);
  CHECK(link.b->frames == 1);
  rig.settle();
}

constexpr std::array kLimitBehaviours{
    Behaviour{"payloads of all sizes", payloads_of_all_sizes},
    Behaviour{"headers of all sizes", headers_of_all_sizes},
    Behaviour{"a receiver that rests is waited for in bounded memory",
              a_receiver_that_rests_is_waited_for},
    Behaviour{"progress keeps to its budget", progress_keeps_to_its_budget},
    Behaviour{"an untrusted peer sends little", an_untrusted_peer_sends_little},
};

}  // namespace

std::span<const Behaviour> limit_behaviours() { return kLimitBehaviours; }

}  // namespace livebtl::conformance
