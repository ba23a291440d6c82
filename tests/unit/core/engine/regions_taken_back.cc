// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/regions_taken_back.cc -- memory that is taken back while peers put into it or
// get from it, on any transport.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "tests/unit/core/engine/regions_conformance.h"

namespace livebtl::test {
namespace {

/// Three puts, or one get, since those write into one buffer.
void start_some(Rig& rig, Remote remote, std::vector<std::byte>& bytes, bool putting,
                std::deque<Watched>& operations) {
  const Slice from{bytes.data(), bytes.size()};
  const MutableSlice into{bytes.data(), bytes.size()};
  const Destination to = rig.to(0, last_of(rig));
  const PutRequest put{.to = to, .remote = remote, .slices = {&from, 1}};
  const GetRequest get{.to = to, .remote = remote, .slices = {&into, 1}};
  while (operations.size() < (putting ? 3 : 1)) {
    Watched& next = operations.emplace_back();
    REQUIRE((putting ? rig.ports[0]->put(put, next) : rig.ports[0]->get(get, next)) ==
            Accept::kAccepted);
  }
}

/// How many were refused; none may be refused other than for a key that is gone.
std::size_t refused_of(const std::deque<Watched>& operations) {
  std::size_t refused = 0;
  for (const Watched& each : operations) {
    const Errc code = each.completion.code;
    CHECK_MESSAGE((code == Errc::kOk || code == Errc::kBadKey), errc_name(code));
    refused += code == Errc::kBadKey;
  }
  return refused;
}

/// Returns how many were refused.
std::size_t taken_back(const OnTransport& on, bool putting, int turns) {
  constexpr std::size_t kBytes = 1'500'000;
  std::deque<Watched> operations;  // before the rig, which may still complete them
  auto bytes = pattern(kBytes, 5);
  Rig rig(on.ranks, on.kinds);
  Guarded memory(rig, kBytes);
  const auto there = pattern(kBytes, 6);
  std::memcpy(memory.data(), there.data(), kBytes);
  meet(rig, on, memory.key);
  start_some(rig, {memory.key, 0}, bytes, putting, operations);
  for (int i = 0; i < turns; ++i) {
    for (auto& engine : rig.engines) engine->progress();
  }
  memory.take_back();
  rig.until([&] {
    return std::ranges::all_of(operations, [](auto& each) { return each.done_count == 1; });
  });
  const std::size_t refused = refused_of(operations);
  if (!putting && refused == 0) CHECK(bytes == there);
  return refused;
}

/// Moves the last rank's engine, in a thread of its own.
class Mover {
 public:
  explicit Mover(Rig& rig)
      : thread_([this, &engine = *rig.engines.back()] {
          while (!over_) {
            engine.progress();
            ++turns_;
          }
        }) {}
  ~Mover() {
    over_ = true;
    thread_.join();
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  void wait_for_a_turn() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (const std::uint64_t before = turns_; turns_ == before; ::sched_yield())
      REQUIRE(std::chrono::steady_clock::now() < deadline);
  }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<std::uint64_t> turns_ = 0;
  std::thread thread_;
};

/// Puts go on, and another thread moves the owner, which takes its memory back and frees it at
/// once, to use it for something else. Returns how many were refused.
std::size_t freed(const OnTransport& on, int turns) {
  constexpr std::size_t kBytes = 1'500'000;
  std::deque<Watched> operations;  // before the rig, which may still complete them
  auto bytes = pattern(kBytes, 5);
  Rig rig(on.ranks, on.kinds);
  auto memory = std::make_unique<std::byte[]>(kBytes);
  const std::uint64_t key =
      rig.ports.back()->register_region({.base = memory.get(), .bytes = kBytes}).value();
  meet(rig, on, key);
  start_some(rig, {key, 0}, bytes, true, operations);
  std::vector<std::byte> next;
  {
    const Mover mover(rig);
    for (int i = 0; i < turns; ++i) {
      rig.engines[0]->progress();
      mover.wait_for_a_turn();
    }
    REQUIRE(rig.ports.back()->deregister_region(key));
    memory.reset();
    next.assign(kBytes, std::byte{0xEE});  // usually at the same place
    mover.wait_for_a_turn();
  }
  rig.until([&] {
    return std::ranges::all_of(operations, [](auto& each) { return each.done_count == 1; });
  });
  CHECK(next == std::vector<std::byte>(kBytes, std::byte{0xEE}));
  return refused_of(operations);
}

}  // namespace

void memory_is_taken_back(const OnTransport& on) {
  for (const bool putting : {true, false}) {
    std::size_t refused = 0;
    for (const int turns : {0, 1, 2, 3, 4, 6, 9, 14, 25}) refused += taken_back(on, putting, turns);
    CHECK(refused > 0);
  }
}

void memory_is_freed(const OnTransport& on) {
  std::size_t refused = 0;
  for (const int turns : {0, 1, 2, 4, 6, 9, 14, 25}) refused += freed(on, turns);
  CHECK(refused > 0);
}

}  // namespace livebtl::test
