// SPDX-License-Identifier: BSD-3-Clause
// A transport whose looks are dear is looked at when it says so, and is told whether others bring
// frames meanwhile.
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

struct Looks {
  bool is_due = true;
  bool beside_traffic = false;  // as it was told last
  int asked = 0, taken = 0;
};

/// Reaches nobody.
class Dear final : public core::Transport, core::LookedAtSeldom {
 public:
  explicit Dear(Looks& looks) : looks_(looks) {}

  std::string_view name() const noexcept override { return "dear"; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return Blob(1, std::byte{1}); }
  bool reaches(Bytes) const noexcept override { return false; }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes) override {
    return fail(Errc::kUnreachable, "nobody is there");
  }
  std::size_t progress(core::TransportSink&, TimeNs, std::size_t) noexcept override {
    ++looks_.taken;
    return 0;
  }
  int wait_fd() const noexcept override { return -1; }
  bool arm() noexcept override { return true; }
  core::LookedAtSeldom* looked_at_seldom() noexcept override { return this; }

 private:
  bool due(TimeNs, bool beside_traffic) noexcept override {
    looks_.beside_traffic = beside_traffic;
    ++looks_.asked;
    return looks_.is_due;
  }

  core::Caps caps_{.payload_bytes_max = 65536};
  Looks& looks_;
};

core::TransportKind dear(Looks& looks) {
  return {"dear", "", [&looks](const core::NodeFacts&) -> Result<std::unique_ptr<core::Transport>> {
            return std::make_unique<Dear>(looks);
          }};
}

/// A message of rank 0 to itself has come. Its frame moves in a round after the one that sends.
void receive_one(Rig& rig) {
  Watched received;
  std::byte room[8]{};
  const MutableSlice slice{room, sizeof(room)};
  ReceiveRequest receive{.tag = 1};
  receive.slices = {&slice, 1};
  REQUIRE(rig.ports[0]->receive(receive, received) == Accept::kAccepted);
  const std::byte byte{1};
  const Slice out{&byte, 1};
  SendRequest send{.to = rig.to(0, 0), .tag = 1};
  send.slices = {&out, 1};
  Watched sent;
  REQUIRE(rig.ports[0]->send(send, sent) == Accept::kAccepted);
  rig.until([&] { return received.done_count == 1 && sent.done_count == 1; });
}

}  // namespace

TEST_CASE("a transport that is looked at seldom is asked in each round, and left out as it says") {
  Looks looks;
  Rig rig(1, {kind("self"), dear(looks)});
  looks = {.is_due = false};
  for (int round = 0; round < 10; ++round) rig.engines[0]->progress();
  CHECK(looks.asked == 10);
  CHECK(looks.taken == 0);
  looks.is_due = true;
  rig.engines[0]->progress();
  CHECK(looks.taken == 1);
}

TEST_CASE("... and is told of traffic by others, until none comes or somebody is about to sleep") {
  Looks looks;
  Rig rig(1, {kind("self"), dear(looks)});
  for (const bool sleeps : {false, true}) {
    CAPTURE(sleeps);
    receive_one(rig);
    rig.engines[0]->progress();
    CHECK(looks.beside_traffic);
    if (sleeps) {
      rig.engines[0]->wait(0);
    } else {
      rig.until([&] { return !looks.beside_traffic; });
    }
    CHECK_FALSE(looks.beside_traffic);
  }
}
