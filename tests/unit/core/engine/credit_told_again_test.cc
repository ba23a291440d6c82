// SPDX-License-Identifier: BSD-3-Clause
// Credit that was given back on a path that was then lost is told again, even where a marker's
// acknowledgement, which tells no credit, goes first.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;
using core::Rung;

namespace {

/// Small messages from rank 0 to rank 1, which has a receive for each.
class ToldMessages {
 public:
  explicit ToldMessages(Rig& rig) : rig_(rig) {}
  ~ToldMessages() { rig_.ports.clear(); }
  void send(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ReceiveRequest wanted{.tag = 1};
      REQUIRE(rig_.ports[1]->receive(wanted, next(receives_)) == Accept::kAccepted);
      REQUIRE(rig_.ports[0]->send({.to = rig_.to(0, 1), .tag = 1}, next(sends_)) ==
              Accept::kAccepted);
    }
  }
  std::size_t received() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(receives_, [](const auto& each) { return each->done_count == 1; }));
  }

 private:
  using Operations = std::vector<std::unique_ptr<Watched>>;
  static Watched& next(Operations& in) { return *in.emplace_back(std::make_unique<Watched>()); }

  Rig& rig_;
  Operations sends_, receives_;
};

void break_all(const Tap& tap) {
  for (core::EndpointSink* sink : std::set(tap.sinks))
    sink->on_down({Errc::kDown, "the test breaks it"});
}

/// Moves both to that rung, and waits until they send over that transport.
void move(Ladder& ladder, Rung rung, const core::Routing& after, const std::string& onto) {
  for (const std::size_t rank : {0U, 1U}) ladder.order(rank, rung, after);
  ladder.rig.until(
      [&] { return used(ladder.rig, 0, 1) == onto && used(ladder.rig, 1, 0) == onto; });
}

}  // namespace

TEST_CASE("credit that went with a path is told again, behind the answer to a marker") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, small_credit(), 1,
          prefer("beta"));
  ToldMessages messages(rig);
  messages.send(1);
  rig.until([&] { return messages.received() == 1; });
  core::Routing after = prefer("beta");
  after.moved["beta"] = "alpha";
  Ladder ladder{rig, [] {}, prefer("beta"), 1, 1};
  ladder.climb_to(Rung::kJoint, after);
  // Both leave beta. Rank 0's marker there waits for its answer, as rank 1 can post nothing.
  beta[1].busy = true;
  move(ladder, Rung::kNewTx, after, "alpha");
  rig.until([&] { return beta[0].posted[FrameKind::kMarker] == 1 && beta[1].refused != 0; });
  // Rank 0 uses up its credit; what rank 1 gives back does not arrive.
  alpha[1].mute = true;
  messages.send(2 * kHeaders);
  rig.until([&] { return messages.received() >= kHeaders; });
  REQUIRE(messages.received() <= kHeaders + 1);
  // They return to beta, and lose alpha.
  move(ladder, Rung::kJoint, after, "beta");
  for (const std::size_t rank : {0U, 1U}) {
    alpha[rank].refuses = true;
    break_all(alpha[rank]);
  }
  for (auto& engine : rig.engines) engine->progress();
  beta[1].busy = false;
  rig.until([&] { return messages.received() == 2 * kHeaders + 1; });
}
