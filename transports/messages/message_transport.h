// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/message_transport.h -- what transports over message fabrics have in common:
// they connect by tickets, may hold an RDMA device, and identify endpoints by numbers that are on
// the wire.
//
// Ownership: endpoints are borrowed, from enter() to leave().
// Threads: the engine's lock.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "transports/interface/node_facts.h"
#include "transports/messages/credits.h"

namespace livebtl::messages {

/// The files of RDMA devices, and who else in a process may have them open.
inline core::DeviceFiles rdma_devices() {
  return {"/dev/infiniband/uverbs",
          {{"mca_btl_openib", "Open MPI's btl openib (--mca btl ^openib)"},
           {"libuct_ib", "UCX (UCX_TLS=^ib)"},
           {"librdmacm", "librdmacm, as libfabric's verbs provider does (LIVEBTL_HIDE_DEVICES)"}}};
}

/// How often a sleeping process asks whether the other ends of its connections are still there.
inline constexpr TimeNs kAskAsleepEvery = 10 * kSecond;

template <class End, class Number>
class MessageTransport : public core::Transport, core::ByTicket, core::HoldsDevice {
 public:
  MessageTransport(const MessageTransport&) = delete;
  MessageTransport& operator=(const MessageTransport&) = delete;

  core::ByTicket* by_ticket() noexcept override { return this; }
  const core::HoldsDevice* holds_device() const noexcept override { return this; }

  // For endpoints.
  Credits& credits() noexcept { return credits_; }
  TimeNs now() const noexcept { return now_; }
  std::uint64_t node() const noexcept { return node_; }
  bool wants_payload_crc(std::uint64_t peer_node) const noexcept {
    return crc_ == CrcMode::kAlways || (crc_ == CrcMode::kNetwork && peer_node != node_);
  }
  void enter(Number number, End& end) { ends_[number] = &end; }
  void leave(Number number, End& end) noexcept {
    ends_.erase(number);
    std::replace(unsettled_.begin(), unsettled_.end(), &end, static_cast<End*>(nullptr));
  }
  /// Calls settle() and deliver() in the next progress().
  void settle_later(End& end) noexcept {
    if (std::find(unsettled_.begin(), unsettled_.end(), &end) == unsettled_.end())
      unsettled_.push_back(&end);
  }

 protected:
  explicit MessageTransport(const core::NodeFacts& facts) noexcept
      : node_(facts.node), crc_(facts.settings->crc) {}

  End* find(Number number) noexcept {
    const auto found = ends_.find(number);
    return found == ends_.end() ? nullptr : found->second;
  }
  /// By number: a sink may destroy endpoints meanwhile.
  template <class Call>
  void for_each(Call call) {
    std::vector<Number> numbers;
    numbers.reserve(ends_.size());
    for (const auto& [number, end] : ends_) numbers.push_back(number);
    for (const Number number : numbers) {
      if (End* const end = find(number)) call(*end);
    }
  }
  /// Do too many endpoints await a hello to admit one more?
  bool is_crowded() const noexcept {
    constexpr std::ptrdiff_t kUntrustedMax = 64;
    const auto is_untrusted = [](const auto& each) { return !each.second->trusted(); };
    return std::count_if(ends_.begin(), ends_.end(), is_untrusted) >= kUntrustedMax;
  }
  /// Sends and reports what endpoints could not before; delivers frames that had to wait. Returns
  /// how many.
  std::size_t settle(std::size_t frames_max) noexcept {
    std::size_t moved = 0;
    // By index: a sink may add to the list, and destroy endpoints, which leaves holes in it.
    const std::size_t count = unsettled_.size();
    for (std::size_t i = 0; i < count; ++i) {
      End* const end = std::exchange(unsettled_[i], nullptr);
      if (end == nullptr) continue;
      end->settle();
      moved += end->deliver(frames_max - moved);
      if (end->has_ready()) settle_later(*end);
    }
    std::erase(unsettled_, nullptr);
    return moved;
  }

  const std::uint64_t node_;
  Credits credits_;
  std::unordered_map<Number, End*> ends_;
  std::vector<End*> unsettled_;
  TimeNs now_ = 0;

 private:
  const CrcMode crc_;
};

}  // namespace livebtl::messages
