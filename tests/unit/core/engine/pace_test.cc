// SPDX-License-Identifier: BSD-3-Clause
// A transport with a pace is skipped in rounds that are not due: polled seldom while others bring
// frames.
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Reaches nobody, and counts how often it is polled.
class Paced final : public core::Transport {
 public:
  explicit Paced(unsigned& polls) : polls_(polls) {}

  std::string_view name() const noexcept override { return "paced"; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return Blob(1, std::byte{1}); }
  bool reaches(Bytes) const noexcept override { return false; }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    return fail(Errc::kUnreachable, "nobody is there");
  }
  std::size_t progress(core::TransportSink&, TimeNs, std::size_t) noexcept override {
    ++polls_;
    return 0;
  }
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override { return true; }
  core::Pace* pace() noexcept override { return &pace_; }

 private:
  core::Caps caps_{.payload_bytes_max = 65536};
  core::Pace pace_;
  unsigned& polls_;
};

core::TransportKind paced(unsigned& polls) {
  return {"paced", "",
          [&polls](const core::NodeFacts&) -> Result<std::unique_ptr<core::Transport>> {
            return std::make_unique<Paced>(polls);
          }};
}

/// A message of rank 0 to itself.
void receive_one(Rig& rig) {
  Watched received, sent;
  std::byte room[8]{};
  const MutableSlice slice{room, sizeof(room)};
  ReceiveRequest receive{.tag = 1};
  receive.slices = {&slice, 1};
  REQUIRE(rig.ports[0]->receive(receive, received) == Accept::kAccepted);
  const std::byte byte{1};
  const Slice out{&byte, 1};
  SendRequest send{.to = rig.to(0, 0), .tag = 1};
  send.slices = {&out, 1};
  REQUIRE(rig.ports[0]->send(send, sent) == Accept::kAccepted);
  while (received.done_count == 0 || sent.done_count == 0) rig.engines[0]->progress();
}

/// Polls during that many rounds of progress, between which no time passes.
unsigned polls_in(Rig& rig, unsigned& polls, unsigned rounds) {
  const unsigned before = polls;
  for (unsigned round = 0; round < rounds; ++round) rig.engines[0]->progress();
  return polls - before;
}

}  // namespace

TEST_CASE("a transport with a pace is polled in rounds that are due, and in few beside traffic") {
  unsigned polls = 0;
  Rig rig(1, {kind("self"), paced(polls)});
  rig.pass(kSecond);  // the clock stands
  const unsigned quiet = polls_in(rig, polls, 10 * core::Pace::kSkippedAloneMax);
  CHECK(quiet >= 9);
  CHECK(quiet <= 11);
  const unsigned before = polls;
  for (unsigned i = 0; i < 4 * core::Pace::kSkippedAloneMax; ++i) receive_one(rig);
  CHECK(polls - before <= 2);
}

TEST_CASE("... and at once again where somebody is about to sleep") {
  unsigned polls = 0;
  Rig rig(1, {kind("self"), paced(polls)});
  receive_one(rig);
  rig.pass(kSecond);
  receive_one(rig);
  const unsigned before = polls;
  rig.pass(core::Pace::kEveryNs);  // too short beside traffic
  CHECK(polls - before == 1);
}
