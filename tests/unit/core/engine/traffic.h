// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/traffic.h -- messages between all engines of a rig, checked at their receivers.
#pragma once

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

/// A stream of numbered messages from each rank to the next, checked at the receiver.
class Traffic {
 public:
  ~Traffic() { rig_.ports.clear(); }  // ends what is open before its memory goes
  enum class Sizes { kAll, kEager };
  explicit Traffic(Rig& rig, Sizes sizes = Sizes::kAll)
      : rig_(rig), sizes_(sizes), lanes_(rig.ports.size()) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].buffer.resize(kBytesMax);
  }
  void step() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      send_next(i);
      receive_next(i);
    }
  }
  std::uint64_t received(std::size_t i) const { return lanes_[i].received; }

 private:
  static constexpr std::size_t kBytesMax = 120000;
  std::size_t bytes_of(std::uint64_t number) const {
    return sizes_ == Sizes::kAll && number % 7 == 0 ? kBytesMax : number % 900;
  }

  struct Lane {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::unique_ptr<Watched> send;
    std::unique_ptr<Watched> receive;
    std::vector<std::byte> data;
    std::vector<std::byte> buffer;
  };

  void send_next(std::size_t i) {
    Lane& lane = lanes_[i];
    if (lane.send && lane.send->done_count == 0) return;
    lane.data = pattern(bytes_of(lane.sent), lane.sent);
    const Slice slice{lane.data.data(), lane.data.size()};
    lane.send = std::make_unique<Watched>();
    SendRequest request{.to = rig_.to(i, (i + 1) % lanes_.size()), .tag = lane.sent++};
    request.slices = {&slice, 1};
    REQUIRE(rig_.ports[i]->send(request, *lane.send) == Accept::kAccepted);
  }
  void receive_next(std::size_t i) {
    Lane& lane = lanes_[i];
    if (lane.receive) {
      if (lane.receive->done_count == 0) return;
      const Completion& how = lane.receive->completion;
      REQUIRE(how.tag == lane.received);
      REQUIRE(how.bytes == bytes_of(lane.received));
      const auto wanted = pattern(how.bytes, lane.received);
      REQUIRE(std::equal(wanted.begin(), wanted.end(), lane.buffer.begin()));
      ++lane.received;
    }
    const MutableSlice slice{lane.buffer.data(), lane.buffer.size()};
    lane.receive = std::make_unique<Watched>();
    ReceiveRequest request{.ignore = ~Tag{0}};
    request.slices = {&slice, 1};
    REQUIRE(rig_.ports[i]->receive(request, *lane.receive) == Accept::kAccepted);
  }

  Rig& rig_;
  Sizes sizes_;
  std::vector<Lane> lanes_;
};

inline void run(Rig& rig, Traffic& traffic, std::uint64_t more) {
  const std::uint64_t goal = traffic.received(0) + more;
  rig.until([&] {
    traffic.step();
    for (std::size_t i = 0; i < rig.engines.size(); ++i) {
      if (traffic.received(i) < goal) return false;
    }
    return true;
  });
}

}  // namespace livebtl::test
