// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/ended_list_test.cc -- what has ended is taken once, in the order in which it
// ended.
#include "ompi/ended_list.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace livebtl::ompi {
namespace {

struct Node : EndedList::Link {
  std::uint32_t maker = 0;
  std::uint32_t number = 0;
  std::atomic<std::uint32_t> taken{0};
};

Node* take(EndedList& list, Threads threads = Threads::kOne) {
  return static_cast<Node*>(list.take(threads));
}

TEST_CASE("an empty list gives nothing") {
  EndedList list;
  CHECK(list.empty());
  CHECK(take(list) == nullptr);
  CHECK(take(list, Threads::kSeveral) == nullptr);
}

TEST_CASE("the oldest comes first, also of those pushed while others were taken") {
  EndedList list;
  std::array<Node, 4> nodes;
  list.push(nodes[0]);
  list.push(nodes[1]);
  CHECK(take(list) == &nodes[0]);
  list.push(nodes[2]);
  CHECK(take(list) == &nodes[1]);
  CHECK(take(list) == &nodes[2]);
  CHECK(list.empty());
  list.push(nodes[3]);
  CHECK(take(list) == &nodes[3]);
  CHECK(take(list) == nullptr);
}

TEST_CASE("a node that was taken may be pushed again before the rest is taken") {
  EndedList list;
  std::array<Node, 3> nodes;
  for (Node& node : nodes) list.push(node);
  Node* const first = take(list);
  list.push(*first);
  CHECK(take(list) == &nodes[1]);
  CHECK(take(list) == &nodes[2]);
  CHECK(take(list) == first);
  CHECK(take(list) == nullptr);
}

// More than the ring holds; some are taken while the others wait on the list.
TEST_CASE("the oldest comes first, however many wait") {
  EndedList list;
  std::vector<Node> nodes(5 * EndedList::kRing);
  std::size_t pushed = 0, taken = 0;
  const auto push = [&](std::size_t count) {
    while (count-- != 0) list.push(nodes[pushed++]);
  };
  const auto take_in_order = [&](std::size_t count) {
    while (count-- != 0) REQUIRE(take(list) == &nodes[taken++]);
  };
  push(EndedList::kRing + 3);
  take_in_order(5);
  push(2);  // the ring has room, but older ones are on the list
  take_in_order(EndedList::kRing - 1);
  push(EndedList::kRing + 7);  // some off the list are still to be taken
  take_in_order(EndedList::kRing + 1);
  push(2 * EndedList::kRing);
  take_in_order(pushed - taken);
  CHECK(list.empty());
  CHECK(take(list) == nullptr);
}

TEST_CASE("what ends in a call of the program's comes behind what has ended in the engine") {
  EndedList list;
  std::array<Node, 5> nodes;
  list.push(nodes[0]);
  list.push_from_call(nodes[1]);
  list.push(nodes[2]);
  list.push_from_call(nodes[3]);
  CHECK(take(list) == &nodes[0]);
  CHECK(take(list) == &nodes[2]);
  CHECK_FALSE(list.empty());
  CHECK(take(list) == &nodes[1]);
  list.push_from_call(nodes[4]);
  CHECK(take(list) == &nodes[3]);
  CHECK_FALSE(list.empty());
  CHECK(take(list) == &nodes[4]);
  CHECK(list.empty());
}

constexpr std::uint32_t kMakers = 3, kEach = 20000;

struct Crowd {
  EndedList list;
  std::mutex engine;
  std::array<std::vector<Node>, kMakers> nodes;
  std::atomic<std::uint32_t> left{kMakers * kEach};
  std::atomic<bool> in_order{true};

  void push_all(std::uint32_t maker) {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      Node& node = nodes[maker][i];
      node.maker = maker;
      node.number = i;
      if (maker == 0) {  // a thread of the program
        list.push_from_call(node);
      } else {
        const std::lock_guard guard(engine);
        list.push(node);
      }
    }
  }
  void take_all(Threads threads) {
    std::array<std::int64_t, kMakers> last;
    last.fill(-1);
    while (left.load() != 0) {
      Node* const node = take(list, threads);
      if (node == nullptr) continue;
      node->taken.fetch_add(1);
      if (node->number <= last[node->maker]) in_order.store(false);
      last[node->maker] = node->number;
      left.fetch_sub(1);
    }
  }
};

void check_crowd(std::size_t takers) {
  Crowd crowd;
  for (auto& made : crowd.nodes) made = std::vector<Node>(kEach);
  const Threads kind = takers == 1 ? Threads::kOne : Threads::kSeveral;
  std::vector<std::thread> threads;
  for (std::uint32_t maker = 0; maker < kMakers; ++maker)
    threads.emplace_back([&crowd, maker] { crowd.push_all(maker); });
  for (std::size_t i = 0; i < takers; ++i)
    threads.emplace_back([&crowd, kind] { crowd.take_all(kind); });
  for (std::thread& thread : threads) thread.join();
  CHECK(crowd.in_order.load());
  CHECK(crowd.list.empty());
  bool once = true;
  for (const auto& made : crowd.nodes) {
    for (const Node& node : made) once = once && node.taken.load() == 1;
  }
  CHECK(once);
}

TEST_CASE("several push and one takes: each node once, of one maker in its order") {
  check_crowd(1);
}

TEST_CASE("several push and several take: each node once, of one maker in its order to one taker") {
  check_crowd(2);
}

}  // namespace
}  // namespace livebtl::ompi
