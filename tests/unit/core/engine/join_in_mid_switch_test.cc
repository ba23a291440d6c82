// SPDX-License-Identifier: BSD-3-Clause
// A process that joins in mid-ladder and has only the transport that is being removed.
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;

namespace {

/// One message to rank 2, which joined while alpha, its only transport, is being removed.
class Newcomer {
 public:
  explicit Newcomer(Rig& rig) : rig_(rig) {
    without_.excluded.insert("alpha");
    order(Rung::kJoint);
    rig_.until([&] { return all_reached(); });
    rig_.join({kind("self"), kind("tcp", "alpha")}, {1, 1, Rung::kJoint, {}, without_});
  }
  ~Newcomer() { rig_.ports.clear(); }  // ends what is open before its memory goes

  void order(Rung rung) {
    for (auto& engine : rig_.engines) engine->submit({1, 1, rung, {}, without_});
  }
  bool all_reached() const {
    return std::all_of(rig_.engines.begin(), rig_.engines.end(),
                       [](auto& engine) { return engine->report().reached; });
  }
  void talk() {
    receive_ = std::make_unique<Watched>();
    send_ = std::make_unique<Watched>();
    const MutableSlice into{&in_, 1};
    ReceiveRequest wanted{.tag = 1};
    wanted.slices = {&into, 1};
    REQUIRE(rig_.ports[2]->receive(wanted, *receive_) == Accept::kAccepted);
    const Slice from{&out_, 1};
    SendRequest request{.to = rig_.to(0, 2), .tag = 1};
    request.slices = {&from, 1};
    REQUIRE(rig_.ports[0]->send(request, *send_) == Accept::kAccepted);
  }
  bool heard() const { return receive_->done_count == 1; }

 private:
  Rig& rig_;
  Routing without_;
  std::unique_ptr<Watched> receive_, send_;
  std::byte in_{}, out_{};
};

}  // namespace

TEST_CASE(
    "a switch that would cut off a process that joined meanwhile is refused, names it, and goes "
    "back") {
  Rig rig(2, two_networks());
  Newcomer newcomer(rig);
  newcomer.talk();
  rig.until([&] { return newcomer.heard(); });
  newcomer.order(Rung::kNewTx);
  for (int i = 0; i < 20; ++i) rig.engines[0]->progress();
  const auto report = rig.engines[0]->report();
  CHECK_FALSE(report.reached);
  CHECK(report.rung == Rung::kNewTx);
  CHECK(report.refused_last_path);
  REQUIRE(report.pairs.size() == 1);
  CHECK(report.pairs[0].find("rank 2") != std::string::npos);
  newcomer.talk();
  rig.until([&] { return newcomer.heard(); });
  for (const Rung rung : {Rung::kJoint, Rung::kOld}) {
    newcomer.order(rung);
    rig.until([&] { return newcomer.all_reached(); });
  }
  newcomer.talk();
  rig.until([&] { return newcomer.heard(); });
}

TEST_CASE("a switch waits, and is taken back, if it would cut off a pair that is just meeting") {
  Rig rig(2, two_networks());
  Newcomer newcomer(rig);
  newcomer.talk();
  rig.engines[0]->progress();  // dials
  newcomer.order(Rung::kNewTx);
  rig.until([&] { return rig.engines[0]->status().peers.front().generation > 0; });
  for (int i = 0; i < 20; ++i) rig.engines[0]->progress();
  CHECK_FALSE(rig.engines[0]->report().reached);
  REQUIRE(rig.engines[0]->report().waiting.size() == 1);
  CHECK(rig.engines[0]->report().waiting[0].find("rank 2") != std::string::npos);
  for (const Rung rung : {Rung::kJoint, Rung::kOld}) {
    newcomer.order(rung);
    rig.until([&] { return newcomer.all_reached(); });
  }
  rig.until([&] { return newcomer.heard(); });
}
