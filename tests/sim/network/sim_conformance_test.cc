// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_conformance_test.cc -- the simulated transports pass the suite that every
// transport passes, so that what an engine learns from them holds for real ones.
#include <doctest/doctest.h>

#include "tests/conformance/conformance.h"
#include "tests/sim/network/sim_transport.h"

using namespace livebtl;
using namespace livebtl::sim;

namespace {

/// Advances virtual time with each progress(), since the suite knows none.
class Ticking final : public core::Transport {
 public:
  Ticking(SimClock& clock, std::unique_ptr<core::Transport> inner)
      : clock_(clock), inner_(std::move(inner)) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  const core::Caps& caps() const noexcept override { return inner_->caps(); }
  Blob address() const override { return inner_->address(); }
  Blob contact() const override { return inner_->contact(); }
  bool reaches(Bytes address) const noexcept override { return inner_->reaches(address); }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override {
    return inner_->connect(address);
  }
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override {
    tick();
    const std::size_t moved = inner_->progress(accept, now, frames_max);
    tick();
    return moved;
  }
  int wait_fd() const noexcept override { return inner_->wait_fd(); }
  bool arm() noexcept override { return inner_->arm(); }

 private:
  void tick() noexcept { clock_.advance_to(clock_.now() + 100 * kMicrosecond); }

  SimClock& clock_;
  std::unique_ptr<core::Transport> inner_;
};

void conform(const std::string& name) {
  SimClock clock;
  SimNetwork network(clock, 42, FaultPlan::calm());
  conformance::Subject subject;
  subject.name = name;
  subject.own_threads = false;
  subject.make = [&](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = 1;
    for (core::TransportKind& kind : network.kinds()) {
      if (kind.name != name) continue;
      auto made = kind.make(facts);
      if (!made) return made;
      return std::make_unique<Ticking>(clock, std::move(*made));
    }
    return fail(Errc::kNotFound, "no such simulated transport");
  };
  conformance::run_conformance(subject);
}

}  // namespace

TEST_CASE("alpha conforms") { conform("alpha"); }
TEST_CASE("beta conforms") { conform("beta"); }
TEST_CASE("gamma conforms") { conform("gamma"); }
