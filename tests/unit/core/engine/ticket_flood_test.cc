// SPDX-License-Identifier: BSD-3-Clause
// A member that sends tickets without end: what it makes another keep and open is bounded, and
// nothing else suffers.
#include "base/transport_name.h"
#include "tests/unit/core/engine/tapped.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

/// As long as a name can be.
const std::string kTicketed = "ticketed:" + std::string(kTransportNameMax - 9, 'x');

constexpr int kFlood = 1000;
constexpr std::uint64_t kWaitingMax = 32;
constexpr int kAdmittedMax = 16;

/// Connections that a ticket has begun, and over which nothing comes.
class Begun final : public core::Endpoint, core::TicketEnd {
 public:
  explicit Begun(int& count) : count_(count) { ++count_; }
  ~Begun() override { --count_; }
  void attach(core::EndpointSink&) noexcept override {}
  core::Post post(const core::Frame&) noexcept override { return core::Post::kRetry; }
  std::size_t in_flight() const noexcept override { return 0; }
  void let_go() noexcept override {}
  void trust() noexcept override {}
  bool kernel_vouched() const noexcept override { return false; }
  core::EndpointStats stats() const noexcept override { return {}; }
  core::TicketEnd* by_ticket() noexcept override { return this; }
  Blob ticket() const override { return Blob(4, std::byte{1}); }
  void take_ticket(Bytes) noexcept override {}
  std::string describe() const override { return "begun by a ticket"; }

 private:
  int& count_;
};

/// Connects by tickets; cannot be reached otherwise.
class Ticketed final : public core::Transport, core::ByTicket {
 public:
  Ticketed(std::unique_ptr<core::Transport> beneath, int& begun)
      : beneath_(std::move(beneath)), caps_(beneath_->caps()), begun_(begun) {
    caps_.by_ticket = true;
  }
  std::string_view name() const noexcept override { return kTicketed; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return beneath_->address(); }
  Blob contact() const override { return beneath_->contact(); }
  bool reaches(Bytes) const noexcept override { return false; }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    return fail(Errc::kUnreachable, "the test dials nobody by it");
  }
  core::ByTicket* by_ticket() noexcept override { return this; }
  Result<std::unique_ptr<core::Endpoint>> admit(Bytes) override {
    return std::make_unique<Begun>(begun_);
  }
  std::size_t progress(core::TransportSink&, TimeNs, std::size_t) noexcept override { return 0; }
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override { return true; }

 private:
  std::unique_ptr<core::Transport> beneath_;
  core::Caps caps_;
  int& begun_;
};

core::TransportKind ticketed(int& begun) {
  core::TransportKind made = kind("tcp", kTicketed);
  made.make = [make = made.make,
               &begun](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto beneath = make(facts);
    if (!beneath) return beneath;
    return std::make_unique<Ticketed>(std::move(*beneath), begun);
  };
  return made;
}

/// Rank 0 receives tickets as if rank 1 had sent them.
void inject(Tap& tap, const std::string& transport, int count) {
  REQUIRE(tap.sinks.size() == 1);
  ByteWriter writer;
  writer.put_counted(as_bytes(transport));
  writer.put_counted(Blob(4, std::byte{2}));
  const Blob payload = writer.take();
  for (int i = 1; i <= count; ++i) {
    const core::Header<core::PathBody> header{{FrameKind::kTicket, 0, 0, 0, 0, 0, 0},
                                              {static_cast<std::uint64_t>(i), 0}};
    (*tap.sinks.begin())->on_frame(bytes_of(header), payload);
  }
}

void turn(Rig& rig, int times) {
  for (int i = 0; i < times; ++i) rig.pass(kMillisecond);
}

}  // namespace

TEST_CASE("of a member that sends tickets and takes no answers, few are kept") {
  Taps alpha;
  Rig rig(2, {kind("self"), tapped("alpha", alpha)});
  Traffic traffic(rig);
  run(rig, traffic, 5);
  alpha[0].busy = true;
  inject(alpha[0], "unknown", kFlood);
  turn(rig, 10);
  inject(alpha[0], "unknown", kFlood);
  alpha[0].busy = false;
  turn(rig, 10);
  CHECK(alpha[0].posted[FrameKind::kTicketBack] == kWaitingMax);
  inject(alpha[0], "unknown", 5);  // there is room again
  turn(rig, 10);
  CHECK(alpha[0].posted[FrameKind::kTicketBack] == kWaitingMax + 5);
  run(rig, traffic, 5);
  CHECK(lost(rig, "alpha") == 0);
}

TEST_CASE("a member that begins connections by tickets and says no hello has few of them open") {
  int begun = 0;
  Taps alpha;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), ticketed(begun)});
  Traffic traffic(rig);
  run(rig, traffic, 5);
  for (int round = 0; round < kFlood / kAdmittedMax; ++round) {
    inject(alpha[0], kTicketed, kAdmittedMax);
    turn(rig, 1);
    REQUIRE(begun <= kAdmittedMax);
  }
  CHECK(begun == kAdmittedMax);
  turn(rig, 4000);
  CHECK(begun == 0);  // none said hello in time
  inject(alpha[0], kTicketed, 1);
  CHECK(begun == 1);
  run(rig, traffic, 5);
}
