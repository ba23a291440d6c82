// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/fake_neighbours.h -- what a fake engine knows of other nodes and their relays. Any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "core/engine/admin.h"

namespace livebtl::test {

class FakeNeighbours : public core::Admin {
 public:
  void publish_relay(const std::string& relay) override {
    const std::lock_guard guard(neighbours_mutex_);
    published_ = relay;
  }
  std::string published() const {
    const std::lock_guard guard(neighbours_mutex_);
    return published_;
  }
  std::vector<std::string> relays() override {
    relays_asked.fetch_add(1);
    const std::lock_guard guard(neighbours_mutex_);
    return relays_;
  }
  void learn_relays(const std::vector<std::string>& relays) override {
    const std::lock_guard guard(neighbours_mutex_);
    if (!relays.empty()) relays_ = relays;
  }
  /// As if a peer had told it of this relay.
  void learn_relay(const std::string& relay) {
    const std::lock_guard guard(neighbours_mutex_);
    relays_.push_back(relay);
  }
  bool spans_nodes() const noexcept override { return spans_nodes_.load(); }
  bool left_behind() const noexcept override { return left_behind_.load(); }

  std::atomic<std::uint64_t> relays_asked{0};

 protected:
  std::atomic<bool> spans_nodes_{false};
  std::atomic<bool> left_behind_{false};

 private:
  mutable std::mutex neighbours_mutex_;
  std::string published_;
  std::vector<std::string> relays_;
};

}  // namespace livebtl::test
