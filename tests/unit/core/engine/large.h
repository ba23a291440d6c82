// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/large.h -- large messages carried by both paths of a pair.
#pragma once

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

constexpr std::size_t kLargeBytes = 40000;  // one frame

/// One large message from rank 0 to rank 1 for each path: each goes by the path that has carried
/// less.
class Large {
 public:
  explicit Large(Rig& rig) : rig_(rig), data_(pattern(kLargeBytes, 3)) {
    port_ = rig.engines[1]->open_port({}).value();
    for (std::size_t i = 0; i < 2; ++i) {
      buffers_[i].resize(kLargeBytes);
      const MutableSlice into{buffers_[i].data(), kLargeBytes};
      ReceiveRequest wanted{.tag = i};
      wanted.slices = {&into, 1};
      REQUIRE(port_->receive(wanted, receives_[i]) == Accept::kAccepted);
      const Slice from{data_.data(), kLargeBytes};
      SendRequest request{.to = *rig.engines[0]->peer(port_->address()), .tag = i};
      request.slices = {&from, 1};
      REQUIRE(rig.ports[0]->send(request, sends_[i]) == Accept::kAccepted);
    }
  }
  ~Large() { rig_.ports[0].reset(); }  // ends what is open before its memory goes
  bool arrived() const {
    return std::ranges::all_of(receives_, [](const Watched& each) { return each.done_count == 1; });
  }
  bool is_whole() const { return buffers_[0] == data_ && buffers_[1] == data_; }

 private:
  Rig& rig_;
  std::vector<std::byte> data_, buffers_[2];
  Watched sends_[2], receives_[2];
  std::unique_ptr<Port> port_;
};

}  // namespace livebtl::test
