// SPDX-License-Identifier: BSD-3-Clause
// Processes that end in good order while a peer is slow, stopped or dead: what was reported done is
// delivered, or the receiver is told.
#include <atomic>
#include <thread>

#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::size_t kSentBytes = 4000;
constexpr std::size_t kMessages = 60;

/// Rank 0 has sent to rank 1 over tcp, is told that all is done, and ends; rank 1 stopped reading.
class Ending {
 public:
  enum class Last { kOnTheirWay, kVanished };  // half of the messages
  Ending(int linger_ms, Last last)
      : rig(2, {kind("self"), tapped("tcp", taps)}, 1, lingers(linger_ms)) {
    send(1);
    rig.until([&] { return sent() == 1 && received() == 1; });
    rig.engines[1]->on_event([&](const EngineEvent& event) {
      peer_lost = peer_lost || event.kind == EngineEvent::Kind::kPeerLost;
    });
    taps[1].deaf = true;
    send(kMessages / 2 - 1);
    rig.until([&] { return sent() == kMessages / 2; });
    taps[0].mute = last == Last::kVanished;
    send(kMessages / 2);
    rig.until([&] { return sent() == kMessages; });
    taps[0].mute = false;
  }
  ~Ending() { rig.ports.clear(); }  // ends what is open: its memory goes now

  /// Rank 0 is gone.
  void leave() {
    rig.ports.erase(rig.ports.begin());
    rig.engines.erase(rig.engines.begin());
  }
  std::size_t sent() const { return count(&Message::send); }
  std::size_t received() const {
    std::size_t right = 0;
    for (const auto& each : messages_)
      right += each->receive.done_count == 1 && each->receive.completion.code == Errc::kOk &&
                       each->in == each->out
                   ? 1
                   : 0;
    return right;
  }
  std::size_t told() const {
    std::size_t lost = 0;
    for (const auto& each : messages_)
      lost += each->receive.completion.code == Errc::kPeerLost ? 1 : 0;
    return lost;
  }

  Taps taps;
  Rig rig;
  bool peer_lost = false;  // rank 1 was told

 private:
  struct Message {
    Watched send, receive;
    std::vector<std::byte> out, in = std::vector<std::byte>(kSentBytes);
  };
  static Settings lingers(int linger_ms) {
    Settings settings;
    settings.linger_ms = linger_ms;
    settings.dead_ms = 0;
    return settings;
  }
  void send(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Message& message = *messages_.emplace_back(std::make_unique<Message>());
      message.out = pattern(kSentBytes, messages_.size());
      const auto from = rig.engines[1]->peer(rig.ports[0]->address());
      REQUIRE(from);
      const MutableSlice into{message.in.data(), kSentBytes};
      ReceiveRequest wanted{.tag = messages_.size(), .from = *from};
      wanted.slices = {&into, 1};
      REQUIRE(rig.ports[1]->receive(wanted, message.receive) == Accept::kAccepted);
      const Slice bytes{message.out.data(), kSentBytes};
      SendRequest request{.to = rig.to(0, 1), .tag = messages_.size()};
      request.slices = {&bytes, 1};
      REQUIRE(rig.ports[0]->send(request, message.send) == Accept::kAccepted);
    }
  }
  std::size_t count(Watched Message::*which) const {
    std::size_t done = 0;
    for (const auto& each : messages_) done += ((*each).*which).done_count == 1 ? 1 : 0;
    return done;
  }

  std::vector<std::unique_ptr<Message>> messages_;
};

}  // namespace

TEST_CASE("a process that ends waits for a peer that has stopped, and all arrives") {
  Ending pair(-1, Ending::Last::kOnTheirWay);
  auto& ending = *pair.rig.engines[0];
  std::atomic<bool> ended{false};
  std::thread leaving([&] {
    ending.linger();
    ended.store(true);
  });
  for (int i = 0; i < 50; ++i) ending.agent_turn();
  CHECK_FALSE(ended.load());
  pair.taps[1].deaf = false;
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  while (!ended.load() && monotonic_now() < deadline) pair.rig.engines[1]->progress();
  leaving.join();
  pair.rig.until([&] { return pair.received() == kMessages; });
}

TEST_CASE(
    "a process that may not wait tells by its goodbye what does not come, once it finds room") {
  Ending pair(0, Ending::Last::kVanished);
  pair.taps[0].busy = true;
  auto& ending = *pair.rig.engines[0];
  std::thread leaving([&] { ending.linger(); });
  const int before = pair.taps[0].refused;
  while (pair.taps[0].refused < before + 3) std::this_thread::yield();
  pair.taps[0].busy = false;
  leaving.join();
  CHECK(pair.taps[0].posted[core::FrameKind::kGoodbye] == 1);
  pair.leave();
  pair.taps[1].deaf = false;
  pair.rig.until([&] { return pair.received() + pair.told() == kMessages; });
  CHECK(pair.told() == kMessages / 2);
  CHECK(pair.peer_lost);
}

TEST_CASE(
    "if its goodbye does not come either, the receiver is told as soon as its end is proved") {
  Ending pair(0, Ending::Last::kVanished);
  const ProcessId leaver = pair.rig.engines[0]->process_id();
  pair.taps[0].busy = true;
  pair.rig.engines[0]->linger();
  pair.leave();
  pair.taps[1].deaf = false;
  auto& engine = *pair.rig.engines.front();
  pair.rig.until([&] {
    for (const ProcessId sought : engine.unreached()) {
      if (sought == leaver) engine.proved_dead(sought);  // in place of the agents
    }
    return pair.received() + pair.told() == kMessages;
  });
  CHECK(pair.told() == kMessages / 2);
  CHECK(pair.peer_lost);
}

TEST_CASE("a peer that is proved dead is waited for no longer") {
  Ending pair(-1, Ending::Last::kOnTheirWay);
  auto& ending = *pair.rig.engines[0];
  const ProcessId dead = pair.rig.engines[1]->process_id();
  pair.rig.ports.pop_back();
  pair.rig.engines.pop_back();
  std::thread leaving([&] { ending.linger(); });
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  for (bool proved = false; !proved && monotonic_now() < deadline;) {
    for (const ProcessId sought : ending.unreached()) {
      proved = sought == dead;
      ending.proved_dead(sought);
    }
  }
  leaving.join();
  CHECK(ending.status().peers.front().lost);
}

TEST_CASE("a process that ends finds out that a machine is gone as soon as another one does") {
  Ending at(-1, Ending::Last::kVanished);
  at.taps[0].mute = true;
  for (int ms = 0; ms < 10'000 && lost(at.rig, "tcp") == 0; ms += 10) {
    at.rig.let(10 * kMillisecond);
    at.rig.engines[0]->linger_turn();
  }
  CHECK(lost(at.rig, "tcp") == 1);
}
