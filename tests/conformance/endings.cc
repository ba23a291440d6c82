// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/endings.cc -- behaviours: closing, loss, reconnecting, and that nothing is left
// behind.
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

/// Closes one end of a fresh link; expects exactly one on_down() at the other, then silence.
void close_one_end(const Subject& subject, std::unique_ptr<End> Link::*closing,
                   std::unique_ptr<End> Link::*other) {
  Rig rig(subject);
  Link link = rig.link();
  REQUIRE(transfer(rig, *(link.*closing), *(link.*other), {{1, 8, 8}, {2, 8, 8}}));
  (link.*closing)->close();
  REQUIRE(rig.until([&] { return !(link.*other)->downs.empty(); }));
  CHECK((link.*other)->downs[0].code == Errc::kDown);
  CHECK((link.*other)->post_pattern(3, 8, 8) == Post::kRetry);
  rig.settle();
  CHECK((link.*other)->downs.size() == 1);
  CHECK((link.*other)->frames == 2);
}

void the_dialler_closes(const Subject& subject) { close_one_end(subject, &Link::a, &Link::b); }
void the_acceptor_closes(const Subject& subject) { close_one_end(subject, &Link::b, &Link::a); }

void both_close_at_once(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  Link other = rig.link();
  link.a->close();
  link.b->close();
  rig.settle();
  REQUIRE(transfer(rig, *other.a, *other.b, {{1, 8, 8}}));
}

void closing_with_frames_posted(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  std::vector<Expected> frames;
  {
    std::deque<Blob> payloads;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      payloads.push_back(pattern(seed + 1, rig.payload_max()));
      const Blob header = pattern(seed, 24);
      if (link.a->endpoint().post({header, payloads.back(), seed, true}) == Post::kRetry) break;
      frames.push_back({seed, 24, rig.payload_max()});
    }
    const std::size_t sent = link.a->sent.size();
    link.a->close();
    CHECK(link.a->sent.size() == sent);
    for (Blob& payload : payloads) std::fill(payload.begin(), payload.end(), std::byte{0xEE});
  }  // the buffers are freed
  REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
  rig.settle();
  const bool loses = rig.a().transport->caps().keeps;
  check_received(*link.b, frames, !loses);
}

void a_transport_that_does_not_keep_delivers_before_down(const Subject& subject) {
  Rig rig(subject);
  if (rig.a().transport->caps().keeps) return;
  Link link = rig.link();
  std::vector<Expected> frames;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    if (link.a->post_pattern(seed, 24, 100) != Post::kRetry) frames.push_back({seed, 24, 100});
  REQUIRE(frames.size() > 10);
  link.a->close();
  REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
  check_received(*link.b, frames);
}

void a_lost_peer_is_reconnected(const Subject& subject) {
  if (subject.loopback || !subject.lost_beside) return;
  Rig rig(subject);
  for (std::uint64_t round = 0; round < 3; ++round) {
    Link link = rig.link();
    REQUIRE(transfer(rig, *link.a, *link.b, {{round, 8, 1000}}));
    link.b->close();
    rig.stop_b();
    const TimeNs deadline = monotonic_now() + kDeadlineNs;
    while (link.a->downs.empty() && monotonic_now() < deadline) rig.a().turn();
    REQUIRE(link.a->downs.size() == 1);
    rig.start_b();
  }
  Link link = rig.link();
  REQUIRE(transfer(rig, *link.a, *link.b, {{9, 8, 1000}}));
  REQUIRE(transfer(rig, *link.b, *link.a, {{10, 8, 1000}}));
}

void a_new_link_beside_a_lost_one(const Subject& subject) {
  Rig rig(subject);
  Link lost = rig.link();
  lost.b->close();
  REQUIRE(rig.until([&] { return !lost.a->downs.empty(); }));
  Link link = rig.link();  // the lost end still exists
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}}));
  CHECK(lost.a->downs.size() == 1);
}

/// Whatever a transport could leave behind in a process.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t shared_mappings = 0;
  std::size_t threads = 0;
};

std::size_t count_entries(const char* directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

Footprint footprint() {
  Footprint found{count_entries("/proc/self/fd"), 0, count_entries("/proc/self/task")};
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t rights = line.find(' ') + 1;  // "7f0...-7f1... rw-s 000..."
    if (line.substr(rights, 4).ends_with('s')) ++found.shared_mappings;
  }
  return found;
}

void check_equal(const Footprint& after, const Footprint& before) {
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.shared_mappings == before.shared_mappings);
  CHECK(after.threads == before.threads);
}

void use_and_leave(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  Link back = rig.link(rig.b(), rig.a());
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, rig.payload_max()}}));
  REQUIRE(transfer(rig, *back.a, *back.b, {{2, 8, 8}}));
  rig.a().transport->arm();
  link.b->close();
  REQUIRE(rig.until([&] { return !link.a->downs.empty(); }));
}

void nothing_is_left_behind(const Subject& subject) {
  use_and_leave(subject);  // what a process opens once and keeps does not count
  const Footprint before = footprint();
  for (int i = 0; i < 20; ++i) use_and_leave(subject);
  check_equal(footprint(), before);
}

void endpoints_leave_nothing_behind(const Subject& subject) {
  Rig rig(subject);
  const auto come_and_go = [&rig] {
    for (int i = 0; i < 20; ++i) Link link = rig.link();
    rig.settle();
  };
  come_and_go();  // what all connections between two processes share is opened once, and stays
  const Footprint before = footprint();
  come_and_go();
  check_equal(footprint(), before);
}

constexpr std::array kEndingBehaviours{
    Behaviour{"the dialler closes: one on_down at the acceptor", the_dialler_closes},
    Behaviour{"the acceptor closes: one on_down at the dialler", the_acceptor_closes},
    Behaviour{"both close at once", both_close_at_once},
    Behaviour{"closing with frames posted", closing_with_frames_posted},
    Behaviour{"a transport that does not keep delivers before on_down",
              a_transport_that_does_not_keep_delivers_before_down},
    Behaviour{"a lost peer is reconnected", a_lost_peer_is_reconnected},
    Behaviour{"a new link works beside a lost one", a_new_link_beside_a_lost_one},
    Behaviour{"a destroyed transport leaves nothing behind", nothing_is_left_behind},
    Behaviour{"closed endpoints leave nothing behind", endpoints_leave_nothing_behind},
};

}  // namespace

std::span<const Behaviour> ending_behaviours() { return kEndingBehaviours; }

}  // namespace livebtl::conformance
