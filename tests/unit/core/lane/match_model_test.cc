// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/match_model_test.cc -- the matcher against a naive model, with random input.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/random.h"
#include "match_kit.h"

using namespace livebtl;
using namespace livebtl::core;
using namespace livebtl::core::test;

namespace {

/// One receive after another and one message after another, held in plain lists.
class Model {
 public:
  struct Receive {
    int id;
    Wish wish;
  };
  struct Message {
    int id;
    Envelope envelope;
  };

  static bool fits(const Wish& wish, const Envelope& message) {
    if (wish.kind != message.kind) return false;
    for (int bit = 0; bit < 64; ++bit) {
      const Tag mask = Tag{1} << bit;
      if ((wish.ignore & mask) == 0 && (wish.tag & mask) != (message.tag & mask)) return false;
    }
    if (wish.from.peer == nullptr) return true;
    return wish.from.peer == message.source.peer && wish.from.port == message.source.port;
  }
  /// The message that the receive takes; -1: posted.
  int post(int id, const Wish& wish, bool add = true) {
    for (auto one = messages.begin(); one != messages.end(); ++one) {
      if (!fits(wish, one->envelope)) continue;
      const int taken = one->id;
      messages.erase(one);
      return taken;
    }
    if (add) receives.push_back({id, wish});
    return -1;
  }
  /// The receive that the message goes to; -1: unexpected.
  int arrive(int id, const Envelope& message) {
    for (auto one = receives.begin(); one != receives.end(); ++one) {
      if (!fits(one->wish, message)) continue;
      const int taken = one->id;
      receives.erase(one);
      return taken;
    }
    messages.push_back({id, message});
    return -1;
  }

  std::deque<Receive> receives;
  std::deque<Message> messages;
};

Wish random_wish(Random& random) {
  Wish wish;
  wish.kind = random.chance(0.3) ? MessageKind::kPlain : MessageKind::kTagged;
  wish.tag = random.below(4);
  if (random.chance(0.3)) wish.ignore = random.chance(0.5) ? ~Tag{0} : 1;
  if (random.chance(0.5)) {
    wish.from = {&g_peers[random.below(3)], static_cast<PortNumber>(1 + random.below(2))};
  }
  return wish;
}

/// Runs one step on both; returns whether they agreed. The payload id travels in Envelope::data.
class Race {
 public:
  explicit Race(std::uint64_t seed) : random_(seed) {}
  ~Race() {
    while (Operation* left = matcher_.first_posted()) matcher_.withdraw(*left);
  }

  void step() {
    const std::uint64_t choice = random_.below(10);
    if (choice < 4) {
      post();
    } else if (choice < 8) {
      arrive();
    } else if (choice == 8) {
      withdraw();
    } else {
      claim();
    }
    REQUIRE(matcher_.posted_count() == model_.receives.size());
    REQUIRE(matcher_.unexpected_count() == model_.messages.size());
  }

 private:
  void post() {
    const int id = static_cast<int>(operations_.size());
    operations_.push_back(std::make_unique<Operation>());
    const Wish wish = random_wish(random_);
    fill(*operations_.back(), wish);
    const auto taken = matcher_.post(*operations_.back());
    REQUIRE((taken ? static_cast<int>(taken->envelope.data) : -1) == model_.post(id, wish));
  }
  void arrive() {
    Envelope made =
        envelope(random_.chance(0.3) ? MessageKind::kPlain : MessageKind::kTagged, random_.below(4),
                 {&g_peers[random_.below(3)], static_cast<PortNumber>(1 + random_.below(2))},
                 random_.below(100));
    made.rendezvous = random_.chance(0.3);
    made.data = static_cast<std::uint64_t>(messages_++);
    Operation* const goes_to = matcher_.arrived(made);
    const int expected = model_.arrive(static_cast<int>(made.data), made);
    REQUIRE(goes_to ==
            (expected < 0 ? nullptr : operations_[static_cast<std::size_t>(expected)].get()));
    if (goes_to == nullptr) matcher_.add_unexpected(unexpected(made));
  }
  void withdraw() {
    if (operations_.empty()) return;
    const std::size_t id = random_.below(operations_.size());
    const auto posted =
        std::find_if(model_.receives.begin(), model_.receives.end(),
                     [id](const auto& one) { return one.id == static_cast<int>(id); });
    const bool was_posted = posted != model_.receives.end();
    if (was_posted) model_.receives.erase(posted);
    REQUIRE(matcher_.withdraw(*operations_[id]) == was_posted);
  }
  void claim() {
    Operation probe;
    const Wish wish = random_wish(random_);
    const ReceiveState& like = fill(probe, wish);
    const Unexpected* const seen = matcher_.peek(like);
    const auto taken = matcher_.take(like);
    REQUIRE(seen == taken.get());
    REQUIRE((taken ? static_cast<int>(taken->envelope.data) : -1) == model_.post(-1, wish, false));
  }

  Random random_;
  Model model_;
  std::vector<std::unique_ptr<Operation>> operations_;
  int messages_ = 0;
  Matcher matcher_;
};

}  // namespace

TEST_CASE("a matcher does what two plain lists do") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Race race(seed);
    for (int step = 0; step < 400; ++step) race.step();
  }
}
