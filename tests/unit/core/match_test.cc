// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/match_test.cc -- MPI's matching rules, example by example and against a naive
// model.
#include "core/match.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/random.h"

namespace livebtl {
struct Peer {
  int number;
};
}  // namespace livebtl

using namespace livebtl;
using namespace livebtl::core;

namespace {

Peer g_peers[3];

struct Wish {
  MessageKind kind = MessageKind::kTagged;
  Tag tag = 0;
  Tag ignore = 0;
  Destination from{};
};

ReceiveState& fill(Operation& operation, const Wish& wish) {
  ReceiveState& state = start_state<ReceiveState>(operation);
  state.kind = wish.kind;
  state.tag = wish.tag;
  state.ignore = wish.ignore;
  state.from = wish.from;
  return state;
}

Envelope envelope(MessageKind kind, Tag tag, Destination source, std::uint64_t length = 0) {
  Envelope made;
  made.kind = kind;
  made.tag = tag;
  made.source = source;
  made.length = length;
  return made;
}

std::unique_ptr<Unexpected> unexpected(const Envelope& made) {
  auto message = std::make_unique<Unexpected>();
  message->envelope = made;
  return message;
}

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
  /// The message that it takes; -1: posted.
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
  /// The receive that it goes to; -1: unexpected.
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

/// Runs one step on both; answers whether they agreed. payload id travels in Envelope::data.
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
    std::size_t bytes = 0;
    for (const auto& one : model_.messages) {
      bytes += one.envelope.rendezvous ? 0 : static_cast<std::size_t>(one.envelope.length);
    }
    REQUIRE(matcher_.unexpected_bytes() == bytes);
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

TEST_CASE("receives match in the order posted, messages of one source in the order arrived") {
  Matcher matcher;
  Operation first, second;
  fill(first, {.tag = 5});
  fill(second, {.tag = 5});
  CHECK_FALSE(matcher.post(first));
  CHECK_FALSE(matcher.post(second));
  const Envelope made = envelope(MessageKind::kTagged, 5, {&g_peers[0], 1});
  CHECK(matcher.arrived(made) == &first);
  CHECK(matcher.arrived(made) == &second);
  CHECK(matcher.arrived(made) == nullptr);
}

TEST_CASE("tagged and plain messages never mix") {
  Matcher matcher;
  Operation plain;
  fill(plain, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  CHECK_FALSE(matcher.post(plain));
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[0], 1})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1})) == &plain);
}

TEST_CASE("a directed receive takes only its source, port included") {
  Matcher matcher;
  Operation directed;
  fill(directed, {.from = {&g_peers[1], 2}});
  CHECK_FALSE(matcher.post(directed));
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[0], 2})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[1], 1})) == nullptr);
  CHECK(matcher.arrived(envelope(MessageKind::kTagged, 0, {&g_peers[1], 2})) == &directed);
}

TEST_CASE("a multi-receive stays until less than its least is left") {
  Matcher matcher;
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  CHECK_FALSE(matcher.post(multi));
  const auto arrive = [&](std::uint64_t length) {
    Operation* const at =
        matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, length));
    if (at != nullptr) state.capacity -= std::min<std::size_t>(state.capacity, length);
    return at;
  };
  CHECK(arrive(50) == &multi);
  CHECK(state.posted);
  CHECK(arrive(20) == &multi);  // exactly the least is left
  CHECK(state.posted);
  CHECK(arrive(1) == &multi);
  CHECK_FALSE(state.posted);
  CHECK(arrive(1) == nullptr);
  CHECK(matcher.posted_count() == 0);
}

TEST_CASE("a message larger than what is left of a multi-receive still goes to it, as its last") {
  Matcher matcher;
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  CHECK_FALSE(matcher.post(multi));
  CHECK(matcher.arrived(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, 101)) == &multi);
  CHECK_FALSE(state.posted);
}

TEST_CASE("a multi-receive takes unexpected messages one by one, posted again after each") {
  Matcher matcher;
  for (std::uint64_t i = 0; i < 3; ++i) {
    matcher.add_unexpected(unexpected(envelope(MessageKind::kPlain, 0, {&g_peers[0], 1}, 10 + i)));
  }
  CHECK(matcher.unexpected_bytes() == 33);
  Operation multi;
  ReceiveState& state = fill(multi, {.kind = MessageKind::kPlain, .ignore = ~Tag{0}});
  state.capacity = 100;
  state.multi_bytes_min = 30;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto taken = matcher.post(multi);
    REQUIRE(taken);
    CHECK(taken->envelope.length == 10 + i);
    CHECK_FALSE(state.posted);
  }
  CHECK_FALSE(matcher.post(multi));
  CHECK(state.posted);
  CHECK(matcher.withdraw(multi));
  CHECK_FALSE(matcher.withdraw(multi));
}
