// SPDX-License-Identifier: BSD-3-Clause
// A pair that moves to and fro while one of its paths is stuck: what overtakes it has one bound,
// however often the pair moves, so that the receiver never holds more than the protocol allows.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;
using core::Rung;

namespace {

constexpr std::size_t kMessageBytes = 4096, kMessageCount = 4096;
constexpr int kMoves = 12;

Settings much_credit() {
  Settings settings;
  settings.credit_bytes = 256u << 20;
  settings.credit_headers = 1u << 20;
  return settings;
}

/// Messages from rank 0 to rank 1, as many as the engine accepts, and what became of them.
class OvertakenStream {
 public:
  explicit OvertakenStream(Rig& rig) : rig_(rig), sends_(kMessageCount), receives_(kMessageCount) {
    for (std::size_t i = 0; i < kMessageCount; ++i) {
      received_.emplace_back(kMessageBytes);
      const MutableSlice into{received_[i].data(), kMessageBytes};
      ReceiveRequest request{.kind = MessageKind::kPlain};
      request.slices = {&into, 1};
      REQUIRE(rig.ports[1]->receive(request, receives_[i]) == Accept::kAccepted);
    }
  }
  void send(std::size_t count) {
    for (; count != 0 && sent_ < kMessageCount; --count, ++sent_) {
      payload_.emplace_back(pattern(kMessageBytes, sent_));
      const Slice from{payload_.back().data(), kMessageBytes};
      SendRequest request{.to = rig_.to(0, 1), .kind = MessageKind::kPlain};
      request.slices = {&from, 1};
      REQUIRE(rig_.ports[0]->send(request, sends_[sent_]) == Accept::kAccepted);
    }
  }
  void expect_all() {
    rig_.until([&] { return sent_ == 0 || receives_[sent_ - 1].done_count != 0; });
    for (std::size_t i = 0; i < sent_; ++i) CHECK(received_[i] == payload_[i]);
  }
  ~OvertakenStream() { rig_.ports.clear(); }

 private:
  Rig& rig_;
  std::vector<Watched> sends_, receives_;
  std::vector<std::vector<std::byte>> payload_, received_;
  std::size_t sent_ = 0;
};

}  // namespace

TEST_CASE("what overtakes a stuck path has one bound, however often the pair moves") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta, "sm")}, 1, much_credit(),
          1, prefer("alpha"));
  OvertakenStream stream(rig);
  stream.send(1);
  stream.expect_all();
  core::Routing after = prefer("alpha");
  after.moved["alpha"] = "beta";
  Ladder ladder{rig, [] {}, prefer("alpha"), 1, 1};
  ladder.climb_to(Rung::kJoint, after);
  REQUIRE(used(rig, 0, 1) == "alpha");
  rig.pass(0);  // from now on no time passes: nobody is probed
  alpha[1].deaf = true;
  for (int move = 0; move < kMoves; ++move) {
    stream.send(16);  // stuck
    ladder.order(0, Rung::kNewTx, after);
    CHECK(used(rig, 0, 1) == "beta");
    stream.send(kMessageCount / kMoves);
    for (int turn = 0; turn < 50; ++turn) rig.pass(0);
    ladder.order(0, Rung::kJoint, after);
    CHECK(used(rig, 0, 1) == "alpha");
  }
  CHECK(beta[0].posted[FrameKind::kEager] * kMessageBytes <= core::kOvertakeBytesMax);
  CHECK(beta[0].posted[FrameKind::kEager] != 0);
  alpha[1].deaf = false;
  stream.expect_all();
  CHECK(lost(rig, "beta") == 0);
}
