// SPDX-License-Identifier: BSD-3-Clause
// Pairs with a transport that cannot be dialled: when the agent is called for them, and when not.
#include "core/bml/dialler.h"
#include "tests/unit/base/captured_stderr.h"
#include "tests/unit/core/engine/tapped.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

struct Dials {
  bool swallowed = false;  // if not, refused
  int count = 0;
  int ended = 0;  // of the swallowed ones
};

/// A connection that never gets to a hello.
class Silent final : public core::Endpoint {
 public:
  explicit Silent(Dials& dials) : dials_(dials) {}
  ~Silent() override { ++dials_.ended; }
  void attach(core::EndpointSink&) noexcept override {}
  core::Post post(const core::Frame&) noexcept override { return core::Post::kRetry; }
  std::size_t in_flight() const noexcept override { return 0; }
  void let_go() noexcept override {}
  void trust() noexcept override {}
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return {}; }
  std::string describe() const override { return "nothing"; }

 private:
  Dials& dials_;
};

/// Can be reached, but reaches nobody.
class Undialled final : public core::Transport {
 public:
  Undialled(std::unique_ptr<core::Transport> beneath, Dials& dials)
      : beneath_(std::move(beneath)), dials_(dials) {}
  std::string_view name() const noexcept override { return beneath_->name(); }
  const core::Caps& caps() const noexcept override { return beneath_->caps(); }
  Blob address() const override { return beneath_->address(); }
  Blob contact() const override { return beneath_->contact(); }
  bool reaches(Bytes address) const noexcept override { return beneath_->reaches(address); }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    ++dials_.count;
    if (dials_.swallowed) return std::make_unique<Silent>(dials_);
    return fail(Errc::kUnreachable, "the test refuses it");
  }
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override {
    return beneath_->progress(accept, now, frames_max);
  }
  int wait_fd() const noexcept override { return beneath_->wait_fd(); }
  bool arm() noexcept override { return beneath_->arm(); }

 private:
  std::unique_ptr<core::Transport> beneath_;
  Dials& dials_;
};

core::TransportKind undialled(const std::string& name, Dials& dials) {
  core::TransportKind made = kind("tcp", name);
  made.make = [make = made.make,
               &dials](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto beneath = make(facts);
    if (!beneath) return beneath;
    return std::make_unique<Undialled>(std::move(*beneath), dials);
  };
  return made;
}

/// One byte from rank 0 to rank 1.
class Byte {
 public:
  explicit Byte(Rig& rig) : rig_(rig) {
    const MutableSlice into{&in_, 1};
    ReceiveRequest wanted{.tag = 1};
    wanted.slices = {&into, 1};
    REQUIRE(rig_.ports[1]->receive(wanted, receive_) == Accept::kAccepted);
    const Slice from{&out_, 1};
    SendRequest request{.to = rig_.to(0, 1), .tag = 1};
    request.slices = {&from, 1};
    REQUIRE(rig_.ports[0]->send(request, send_) == Accept::kAccepted);
  }
  ~Byte() { rig_.ports.clear(); }  // ends what is open: its memory goes now
  bool received() const { return receive_.done_count == 1; }

 private:
  Rig& rig_;
  Watched send_, receive_;
  std::byte in_{}, out_{};
};

constexpr int kInVain = 8;  // dials: more than it takes to seek somebody

}  // namespace

TEST_CASE("a pair that is connected is not sought, if another transport is dialled in vain") {
  Dials dials;
  Rig rig(2, {kind("self"), kind("tcp", "alpha"), undialled("beta", dials)});
  int signals = 0;
  rig.engines[0]->on_report([&] { ++signals; });
  const Byte byte(rig);
  rig.until([&] { return byte.received(); });
  const int before = dials.count;
  rig.until([&] {
    rig.pass(kMillisecond);
    return dials.count >= before + 2 * kInVain;
  });
  CHECK(signals == 0);
  CHECK_FALSE(rig.engines[0]->seeks());
  CHECK(rig.engines[0]->unreached().empty());
}

TEST_CASE("a peer that no dial reaches is named once, with the reason") {
  Dials dials;
  core::Routing beta_alone;
  beta_alone.excluded.insert("alpha");
  Rig rig(2, {kind("self"), kind("tcp", "alpha"), undialled("beta", dials)}, 1, {}, 1, beta_alone);
  const Byte byte(rig);
  const auto said_within = [&](TimeNs time) {
    return captured_stderr([&] {
      const int before = dials.count;
      for (TimeNs passed = 0; passed < time; passed += 100 * kMillisecond) {
        rig.pass(100 * kMillisecond);
        rig.until([] { return true; });
      }
      REQUIRE(dials.count > before);
    });
  };
  CHECK(said_within(core::kInVainTold - 300 * kMillisecond) == "");
  const std::string told = said_within(core::kInVainTold);
  CHECK(says(told, "no path to"));
  CHECK(says(told, "beta: the test refuses it"));
  CHECK(told.find("no path to") == told.rfind("no path to"));
  CHECK(said_within(5 * core::kInVainTold) == "");
}

TEST_CASE(
    "a peer that was dialled in vain is sought while one more dial is under way, and is found") {
  Dials dials;
  core::Routing beta_alone;
  beta_alone.excluded.insert("alpha");
  Rig rig(2, {kind("self"), kind("tcp", "alpha"), undialled("beta", dials)}, 1, {}, 1, beta_alone);
  const Byte byte(rig);
  auto& engine = *rig.engines[0];
  rig.until([&] { return dials.count >= kInVain; });
  dials.swallowed = true;
  const int before = dials.count;
  rig.until([&] { return dials.count > before; });
  CHECK(engine.unreached() == std::vector<ProcessId>{ProcessId{101}});
  CHECK(engine.seeks());
  core::Contacts elsewhere = rig.engines[1]->contacts();
  elsewhere.at("beta") = engine.contacts().at("beta");
  engine.introduce(ProcessId{101}, elsewhere);
  CHECK(engine.unreached().empty());  // it was heard from: what it said is tried first
  CHECK(dials.ended == 0);
  engine.progress();
  CHECK(dials.ended == 1);  // nobody listens where that dial went
  const int told = dials.count;
  rig.until([&] { return dials.count > told; });
}

namespace {

void pass(Rig& rig, TimeNs time) {
  constexpr TimeNs kStep = 2 * kMillisecond;
  for (TimeNs passed = 0; passed < time; passed += kStep) rig.pass(kStep);
}

void refuse_all(Taps& taps, bool refuses) {
  for (auto& [rank, tap] : taps) tap.refuses = refuses;
}

void break_paths(Taps& taps) {
  for (auto& [rank, tap] : taps) {
    const auto sinks = tap.sinks;
    for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
  }
}

core::Routing beta_is_better() {
  core::Routing routing;
  routing.tuning["beta"].exclusivity = 999;
  return routing;
}

}  // namespace

TEST_CASE(
    "a better transport is dialled seldom while another one serves, and so is the agent woken") {
  Taps alpha, beta;
  beta[0].refuses = beta[1].refuses = true;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1,
          beta_is_better());
  const Byte byte(rig);
  rig.until([&] {
    rig.pass(kMillisecond);
    return byte.received();
  });
  pass(rig, 20 * kSecond);
  const int before = beta[0].dials;
  pass(rig, 20 * kSecond);
  CHECK(beta[0].dials > before + 1);  // it is not given up
  CHECK(beta[0].dials < before + 10);
  const int dialled = beta[0].dials;
  const std::int64_t sleep = rig.pass_away(2 * kSecond);
  CHECK(sleep > 10 * kMillisecond);
  CHECK(sleep <= core::kRedialServed);
  rig.pass_away(20 * kSecond);
  CHECK(beta[0].dials > dialled + 1);  // nor when nobody calls in
  CHECK(beta[0].dials < dialled + 10);
  refuse_all(beta, false);
  pass(rig, 10 * kSecond);
  CHECK(rig.engines[0]->status().peers.at(0).transport == "beta");
}

TEST_CASE("a pair that has lost what served it dials quickly again") {
  Taps alpha, beta;
  beta[0].refuses = beta[1].refuses = true;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1,
          beta_is_better());
  const Byte first(rig);
  rig.until([&] {
    rig.pass(kMillisecond);
    return first.received();
  });
  pass(rig, 20 * kSecond);
  refuse_all(alpha, true);
  break_paths(alpha);
  const int before = alpha[0].dials + beta[0].dials;
  pass(rig, 2 * kSecond);
  CHECK(alpha[0].dials + beta[0].dials > before + 10);
  const std::int64_t sleep = rig.pass_away(2 * kSecond);
  CHECK(sleep >= 0);  // for it has this to do
  CHECK(sleep <= core::kRedialUnserved * 3 / 2);
  refuse_all(alpha, false);
  pass(rig, kSecond);
  CHECK(rig.engines[0]->status().peers.at(0).transport == "alpha");
}
