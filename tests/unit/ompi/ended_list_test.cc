// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/ended_list_test.cc -- what has ended is taken once, in the order in which it
// ended.
#include "ompi/ended_list.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

namespace livebtl::ompi {
namespace {

struct Node : EndedList::Link {
  std::uint32_t maker = 0;
  std::uint32_t number = 0;
  std::atomic<std::uint32_t> taken{0};
};

Node* take(EndedList& list) { return static_cast<Node*>(list.take()); }

TEST_CASE("an empty list gives nothing") {
  EndedList list;
  CHECK(list.empty());
  CHECK(list.take() == nullptr);
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

constexpr std::uint32_t kMakers = 3, kEach = 20000;

struct Crowd {
  EndedList list;
  std::array<std::vector<Node>, kMakers> nodes;
  std::atomic<std::uint32_t> left{kMakers * kEach};
  std::atomic<bool> in_order{true};

  void push_all(std::uint32_t maker) {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      Node& node = nodes[maker][i];
      node.maker = maker;
      node.number = i;
      list.push(node);
    }
  }
  void take_all() {
    std::array<std::int64_t, kMakers> last;
    last.fill(-1);
    while (left.load() != 0) {
      Node* const node = take(list);
      if (node == nullptr) continue;
      node->taken.fetch_add(1);
      if (node->number <= last[node->maker]) in_order.store(false);
      last[node->maker] = node->number;
      left.fetch_sub(1);
    }
  }
};

TEST_CASE("several push and several take: each node once, of one maker in its order to one taker") {
  Crowd crowd;
  for (auto& made : crowd.nodes) made = std::vector<Node>(kEach);
  std::vector<std::thread> threads;
  for (std::uint32_t maker = 0; maker < kMakers; ++maker)
    threads.emplace_back([&crowd, maker] { crowd.push_all(maker); });
  for (int i = 0; i < 2; ++i) threads.emplace_back([&crowd] { crowd.take_all(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(crowd.in_order.load());
  CHECK(crowd.list.empty());
  bool once = true;
  for (const auto& made : crowd.nodes) {
    for (const Node& node : made) once = once && node.taken.load() == 1;
  }
  CHECK(once);
}

}  // namespace
}  // namespace livebtl::ompi
