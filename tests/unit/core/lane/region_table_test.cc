// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/region_table_test.cc -- no key, offset or length gives access to memory that was
// not registered.
#include "core/lane/region_table.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

RegionRequest request(MutableBytes memory) {
  RegionRequest made;
  made.base = memory.data();
  made.bytes = memory.size();
  return made;
}

}  // namespace

TEST_CASE("addresses inside a region reach it, and all others are refused") {
  RegionTable table;
  Blob memory(100);
  const std::uint64_t key = table.add(1, request(memory)).value();
  CHECK(table.check(1, key, 0, 100, Access::kReadWrite) == memory.data());
  CHECK(table.check(1, key, 99, 1, Access::kRead) == memory.data() + 99);
  CHECK(table.check(1, key, 100, 0, Access::kRead) == memory.data() + 100);
  CHECK(table.check(1, key, 100, 1, Access::kRead) == nullptr);
  CHECK(table.check(1, key, 101, 0, Access::kRead) == nullptr);
  CHECK(table.check(1, key, 1, 100, Access::kRead) == nullptr);
  CHECK(table.check(1, key, 1, ~std::uint64_t{0}, Access::kRead) == nullptr);
  CHECK(table.check(1, key, ~std::uint64_t{0}, 2, Access::kRead) == nullptr);
  CHECK(table.check(2, key, 0, 1, Access::kRead) == nullptr);
  CHECK(table.check(1, key + 1, 0, 1, Access::kRead) == nullptr);
}

TEST_CASE("virtual addressing counts from the owner's pointer") {
  RegionTable table;
  Blob memory(100);
  RegionRequest wish = request(memory);
  wish.virtual_addressing = true;
  const std::uint64_t key = table.add(0, wish).value();
  const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory.data()));
  CHECK(table.check(0, key, base + 5, 95, Access::kWrite) == memory.data() + 5);
  CHECK(table.check(0, key, base - 1, 1, Access::kWrite) == nullptr);
  CHECK(table.check(0, key, base + 100, 1, Access::kWrite) == nullptr);
  CHECK(table.check(0, key, 0, 1, Access::kWrite) == nullptr);
}

TEST_CASE("rights are checked one by one") {
  RegionTable table;
  Blob memory(8);
  RegionRequest wish = request(memory);
  wish.access = Access::kRead;
  const std::uint64_t readable = table.add(0, wish).value();
  wish.access = Access::kWrite;
  const std::uint64_t writable = table.add(0, wish).value();
  CHECK(table.check(0, readable, 0, 8, Access::kRead) != nullptr);
  CHECK(table.check(0, readable, 0, 8, Access::kWrite) == nullptr);
  CHECK(table.check(0, readable, 0, 8, Access::kReadWrite) == nullptr);
  CHECK(table.check(0, writable, 0, 8, Access::kWrite) != nullptr);
  CHECK(table.check(0, writable, 0, 8, Access::kReadWrite) == nullptr);
}

TEST_CASE("a removed key never comes back") {
  RegionTable table;
  Blob memory(8);
  std::set<std::uint64_t> seen;
  std::uint64_t stale = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t key = table.add(0, request(memory)).value();
    CHECK(seen.insert(key).second);
    CHECK(table.check(0, std::exchange(stale, key), 0, 1, Access::kRead) == nullptr);
    CHECK(table.remove(0, key));
    CHECK(table.check(0, key, 0, 1, Access::kRead) == nullptr);
    CHECK(table.remove(0, key).error().code == Errc::kBadKey);
  }
  CHECK(table.count() == 0);
}

TEST_CASE("a wished key is taken once in a space") {
  RegionTable table;
  Blob memory(8);
  RegionRequest wish = request(memory);
  wish.key = 42;
  CHECK(table.add(0, wish).value() == 42);
  CHECK(table.add(0, wish).error().code == Errc::kInvalid);
  CHECK(table.add(1, wish).value() == 42);
  CHECK(table.remove(0, 42));
  CHECK(table.add(0, wish).value() == 42);
}

TEST_CASE("a made key, stale too, never is a wished one, nor the other way round") {
  RegionTable table;
  Blob memory(8), other(16);
  const std::uint64_t made = table.add(0, request(other)).value();
  RegionRequest wish = request(memory);
  wish.key = made;
  CHECK(table.add(0, wish).error().code == Errc::kInvalid);
  CHECK(table.add(1, wish).value() == made);
  CHECK(table.check(1, made, 0, 16, Access::kRead) == nullptr);
  CHECK(table.check(0, made, 0, 16, Access::kRead) == other.data());
  CHECK(table.remove(0, made));
  CHECK(table.remove(1, made));
  CHECK(table.add(0, wish).error().code == Errc::kInvalid);  // the space remembers
  CHECK(table.add(1, request(other)).error().code == Errc::kInvalid);
  CHECK(table.check(0, made, 0, 1, Access::kRead) == nullptr);
  CHECK(table.check(1, made, 0, 1, Access::kRead) == nullptr);
  CHECK(table.count() == 0);
}

TEST_CASE("regions of no bytes can be named, and regions past the end of memory cannot be made") {
  RegionTable table;
  const std::uint64_t key = table.add(0, RegionRequest{}).value();
  CHECK(table.check(0, key, 0, 0, Access::kRead) != nullptr);
  CHECK(table.check(0, key, 0, 1, Access::kRead) == nullptr);
  Blob memory(8);
  RegionRequest wish = request(memory);
  wish.bytes = ~std::size_t{0};
  CHECK(table.add(0, wish).error().code == Errc::kInvalid);
}

TEST_CASE("the table answers as a naive map of regions") {
  struct Model {
    std::uint64_t bytes;
    std::byte* base;
  };
  Random random(77);
  Blob memory(4096);
  RegionTable table;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Model> model;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ever;
  for (int round = 0; round < 20'000; ++round) {
    const auto space = static_cast<std::uint32_t>(random.below(4));
    if (random.chance(0.3)) {
      const std::uint64_t begin = random.below(4096), bytes = random.below(4096 - begin + 1);
      RegionRequest wish = request(MutableBytes(memory).subspan(begin, bytes));
      if (space % 2 != 0) wish.key = random.below(20);
      const auto key = table.add(space, wish);
      REQUIRE(key.has_value() == !(wish.key && model.contains({space, *wish.key})));
      if (!key) continue;
      model[{space, *key}] = {bytes, memory.data() + begin};
      ever.emplace_back(space, *key);
    } else if (!ever.empty()) {
      const auto name = ever[random.below(ever.size())];
      const auto known = model.find(name);
      const std::uint64_t address = random.below(4200), length = random.below(4200);
      const bool inside = known != model.end() && address + length <= known->second.bytes;
      REQUIRE(table.check(name.first, name.second, address, length, Access::kRead) ==
              (inside ? known->second.base + address : nullptr));
      if (random.chance(0.4)) {
        REQUIRE(table.remove(name.first, name.second).has_value() == (known != model.end()));
        model.erase(name);
      }
    }
    REQUIRE(table.count() == model.size());
  }
}
