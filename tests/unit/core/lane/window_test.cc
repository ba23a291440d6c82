// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/window_test.cc -- the window against a naive model, and at the numbers that
// matter.
#include "core/lane/window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

struct Frame {
  std::uint64_t seq;
  Blob header;
  Blob payload;
};

Blob random_blob(Random& random, std::size_t bytes) {
  Blob blob(bytes);
  for (std::byte& byte : blob) byte = static_cast<std::byte>(random.next());
  return blob;
}

bool same(const Window::Kept& kept, const Frame& frame) {
  return kept.seq == frame.seq && std::ranges::equal(kept.header, frame.header) &&
         std::ranges::equal(kept.payload, frame.payload);
}

/// Walks the window as a replay does, and compares each frame with the model.
bool replay_matches(const Window& window, const std::deque<Frame>& model, std::uint64_t from) {
  auto frame = std::find_if(model.begin(), model.end(),
                            [from](const Frame& one) { return one.seq >= from; });
  auto kept = window.at_or_after(from);
  for (; frame != model.end(); ++frame) {
    if (!kept || !same(*kept, *frame)) return false;
    kept = window.at_or_after(kept->seq + 1);
  }
  return !kept;
}

struct Tally {
  std::uint64_t kept = 0, full = 0, wrong = 0;
};

Tally run_against_model(std::uint64_t seed, std::uint64_t first_seq, std::size_t capacity) {
  Random random(seed);
  Window window(capacity);
  std::deque<Frame> model;
  std::uint64_t next = first_seq;
  Tally tally;
  for (int round = 0; round < 3000; ++round) {
    if (random.chance(0.6)) {
      Frame frame{next, random_blob(random, 1 + random.below(64)),
                  random_blob(random, random.chance(0.2) ? 0 : random.below(capacity / 3))};
      if (window.fits(frame.header.size(), frame.payload.size())) {
        window.keep(frame.seq, frame.header, frame.payload);
        model.push_back(std::move(frame));
        next += 1 + random.below(3);  // those skipped took a path that does not keep
        ++tally.kept;
      } else {
        ++tally.full;
        if (model.empty()) ++tally.wrong;  // a frame below the capacity always fits alone
      }
    } else {
      const std::uint64_t base = model.empty() ? next : model.front().seq;
      const std::uint64_t ack = base - std::min<std::uint64_t>(base, 2) + random.below(10);
      window.release(ack);
      while (!model.empty() && model.front().seq < ack) model.pop_front();
    }
    if (window.kept_frames() != model.size() || window.empty() != model.empty()) ++tally.wrong;
    if (window.kept_bytes() > window.capacity_bytes()) ++tally.wrong;
    const std::uint64_t oldest = model.empty() ? next : model.front().seq;
    if (round % 7 == 0 && !replay_matches(window, model, oldest + random.below(8))) ++tally.wrong;
  }
  if (!replay_matches(window, model, 0)) ++tally.wrong;
  return tally;
}

}  // namespace

TEST_CASE("the window keeps what a naive list keeps, whatever comes") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Tally tally = run_against_model(seed, 1, 256 + 8 * seed * seed);
    CHECK(tally.wrong == 0);
    CHECK(tally.kept > 300);
    CHECK(tally.full > 0);  // the ring was full, so it wrapped
  }
}

TEST_CASE("numbers may pass 2^32 and 2^63") {
  CHECK(run_against_model(7, (std::uint64_t{1} << 32) - 3, 2048).wrong == 0);
  CHECK(run_against_model(8, (std::uint64_t{1} << 63) - 3, 2048).wrong == 0);
}

TEST_CASE("a frame of the whole capacity fits an empty window, whatever was in it before") {
  Window window(1024);
  const Blob header(24), small(100), large(1024 - 16 - 24);
  for (std::uint64_t seq = 1; seq < 50; seq += 2) {
    window.keep(seq, header, small);
    CHECK_FALSE(window.fits(header.size(), large.size()));
    window.release(seq + 1);
    REQUIRE(window.fits(header.size(), large.size()));
    CHECK_FALSE(window.fits(header.size(), large.size() + 1));
    window.keep(seq + 1, header, large);
    CHECK_FALSE(window.fits(1, 0));
    window.release(seq + 2);
  }
  CHECK(window.empty());
  CHECK(window.kept_bytes() == 0);
}

TEST_CASE("a release of numbers below the oldest, or again, changes nothing") {
  Window window(1024);
  const Blob header(24);
  window.keep(10, header, {});
  window.keep(11, header, {});
  window.release(10);
  window.release(3);
  CHECK(window.kept_frames() == 2);
  window.release(11);
  window.release(11);
  CHECK(window.kept_frames() == 1);
  CHECK(window.at_or_after(0)->seq == 11);
  CHECK_FALSE(window.at_or_after(12));
}

TEST_CASE("a walk that was begun survives releases and wraps") {
  Window window(400);
  const Blob header(24), payload(40);
  std::uint64_t next = 1;
  while (window.fits(header.size(), payload.size())) window.keep(next++, header, payload);
  REQUIRE(next == 6);
  CHECK(window.at_or_after(4)->seq == 4);
  window.release(3);
  while (window.fits(header.size(), payload.size())) window.keep(next++, header, payload);
  for (std::uint64_t seq = 4; seq < next; ++seq) CHECK(window.at_or_after(seq)->seq == seq);
  window.release(6);
  CHECK(window.at_or_after(4)->seq == 6);
  window.release(next);
  CHECK_FALSE(window.at_or_after(1));
}
