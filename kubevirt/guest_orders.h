// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/guest_orders.h -- has a guest's job let go of its devices, or return to them: through a
// relay of the job and btlctl here, or the guest's agent and btlctl there. Any thread; calls for
// one guest run one at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "hypervisor/vm/guest_job.h"
#include "kubevirt/guest_place.h"

namespace livebtl::kubevirt {

struct OrderSettings {
  std::string guests = "/etc/livebtl/guests";
  std::string btlctl = "btlctl";        // here, for relays
  std::string guest_btlctl = "btlctl";  // in guests, for agents
};

class GuestOrders {
 public:
  explicit GuestOrders(OrderSettings settings) : settings_(std::move(settings)) {}

  /// Succeeds if it is done, or the guest has no job. until: when the caller stops waiting. Errors:
  /// kRefused: the job has not let go, or not returned; the text says why; kTimeout; those of
  /// read_guest().
  Result<std::string> prepare(const std::string& domain, TimeNs until);
  Result<std::string> give_back(const std::string& domain, TimeNs until);

 private:
  using GuestOrder = hypervisor::GuestOrder;
  using Answer = Result<hypervisor::GuestAnswer>;

  Result<std::string> order(const std::string& domain, GuestOrder order, TimeNs until);
  Answer by_relay(const GuestPlace& place, const std::string& node, GuestOrder order,
                  TimeNs until) const;
  Answer by_relay_once(const GuestPlace& place, const std::string& node, GuestOrder order,
                       TimeNs until) const;
  Answer by_agent(const GuestPlace& place, GuestOrder order, TimeNs until) const;
  void take_back(const GuestPlace& guest, const std::string& node) const;
  bool has_ended(const GuestPlace& place, TimeNs until) const;
  std::shared_ptr<std::timed_mutex> lock_of(const std::string& domain);

  const OrderSettings settings_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<std::timed_mutex>> locks_;  // by domain; of calls under way
};

}  // namespace livebtl::kubevirt
