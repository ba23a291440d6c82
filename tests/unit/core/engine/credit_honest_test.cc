// SPDX-License-Identifier: BSD-3-Clause
// Honest members that reach each bound of credit and are not cut off, since they hold back.
#include "tests/unit/core/engine/small_credit.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Operations of rank 0 towards rank 1, many at once.
class Burst {
 public:
  explicit Burst(Rig& rig) : rig_(rig), to_(rig.to(0, 1)) {}

  void put(std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      const Slice slice{out_.data(), bytes};
      PutRequest request{.to = to_, .remote = {kKey, 0}};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->put(request, next()) == Accept::kAccepted);
    }
  }
  void get(std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{in_.data(), bytes};
      GetRequest request{.to = to_, .remote = {kKey, 0}};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->get(request, next()) == Accept::kAccepted);
    }
  }
  void send(std::size_t count, std::size_t bytes, bool delivery_complete) {
    for (std::size_t i = 0; i < count; ++i) {
      const Slice slice{out_.data(), bytes};
      SendRequest request{.to = to_, .delivery_complete = delivery_complete, .tag = 1};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->send(request, next()) == Accept::kAccepted);
    }
  }
  void receive(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{room_.data(), room_.size()};
      ReceiveRequest request{.tag = 1};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[1]->receive(request, next()) == Accept::kAccepted);
    }
  }
  /// Everything has ended as it should.
  bool done(Errc code = Errc::kOk) const {
    return std::ranges::all_of(operations_, [code](const auto& each) {
      return each->done_count == 1 && each->completion.code == code;
    });
  }
  bool ended() const {
    return std::ranges::all_of(operations_, [](const auto& each) { return each->done_count == 1; });
  }

 private:
  Watched& next() { return *operations_.emplace_back(std::make_unique<Watched>()); }

  Rig& rig_;
  const Destination to_;
  std::vector<std::unique_ptr<Watched>> operations_;
  std::vector<std::byte> out_ = std::vector<std::byte>(50'000), in_ = out_, room_ = out_;
};

void expect_nobody_lost(Rig& rig) {
  for (auto& engine : rig.engines) {
    for (const auto& peer : engine->status().peers) CHECK_FALSE(peer.lost);
  }
}

}  // namespace

TEST_CASE("honest processes want more at once than is granted, and nobody is cut off") {
  for (const char* transport : {"tcp", "sm"}) {
    CAPTURE(transport);
    Rig rig(2, {kind("self"), kind(transport)}, 1, small_credit());
    std::vector<std::byte> memory(1 << 20);
    open_memory(*rig.ports[1], memory);
    Burst burst(rig);
    for (const std::size_t bytes : {8UL, 50'000UL}) {
      burst.put(10 * kHeaders, bytes);
      burst.get(10 * kHeaders, bytes);
      burst.send(10 * kHeaders, bytes, bytes == 8);
      burst.receive(10 * kHeaders);
    }
    rig.until([&] { return burst.done(); });
    expect_nobody_lost(rig);
    rig.ports.clear();
  }
}

TEST_CASE("... nor when they give up what they have asked for, again and again") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  std::vector<std::byte> memory(1 << 20);
  open_memory(*rig.ports[1], memory);
  for (int round = 0; round < 20; ++round) {
    Burst burst(rig);
    burst.put(3 * kHeaders, 50'000);
    burst.get(3 * kHeaders, 50'000);
    for (int turns = 0; turns < round; ++turns) rig.until([] { return true; });
    for (auto& engine : rig.engines) engine->progress();
    auto port = rig.engines[0]->open_port({});
    REQUIRE(port);
    rig.ports[0] = std::move(*port);
    CHECK(burst.ended());
  }
  Burst last(rig);
  last.put(3 * kHeaders, 50'000);
  last.get(3 * kHeaders, 50'000);
  rig.until([&] { return last.done(); });
  expect_nobody_lost(rig);
  rig.ports.clear();
}

TEST_CASE("a port that closes gives back what nobody received, and tells those who wait for it") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  for (const bool closes_first : {false, true}) {
    CAPTURE(closes_first);
    for (int round = 0; round < 3; ++round) {
      Burst burst(rig);
      Completion found;
      if (closes_first) rig.ports[1] = nullptr;
      burst.send(kHeaders / 2, 8, true);
      burst.send(kHeaders / 2, 50'000, false);
      const ReceiveRequest any{.tag = 1};
      if (!closes_first) {
        rig.until([&] { return rig.ports[1]->peek(any, found, nullptr); });
        rig.ports[1] = nullptr;
      }
      rig.until([&] { return burst.done(Errc::kCancelled); });
      auto port = rig.engines[1]->open_port({});
      REQUIRE(port);
      rig.ports[1] = std::move(*port);
    }
  }
  expect_nobody_lost(rig);
}
