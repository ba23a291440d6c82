// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_block.h -- memory that endpoints borrow while they have bytes to hold, so that
// an idle connection costs none. One pool a transport; under the engine's lock like everything
// here.
#pragma once

#include <memory>
#include <vector>

namespace livebtl::tcp {

/// Blocks are handed out uninitialised. T: trivially constructible.
template <class T>
class Pool {
 public:
  using Lease = std::unique_ptr<T>;

  Lease take() {
    if (free_.empty()) return Lease(new T);  // not make_unique: that would clear it
    Lease block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  void put(Lease block) {
    if (block && free_.size() < kFreeMax) free_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t kFreeMax = 8;
  std::vector<Lease> free_;
};

}  // namespace livebtl::tcp
