// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/two_nodes.h -- a job on two nodes that are joined by relays.
#pragma once

#include "job_of_fakes.h"

namespace livebtl::test {

inline const std::string kKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
inline const std::string kOtherKey =
    "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

inline std::string relay_of(JobOfFakes& node) {
  for (const auto& card : node.place().members.live) {
    if (!card.relay.empty()) return card.relay;
  }
  return "";
}

/// Two nodes with two ranks each. On each node, one member has heard of the other node's relay.
struct TwoNodes {
  explicit TwoNodes(const std::string& second_key = "") {
    write_file(keys / "one", kKey);
    write_file(keys / "two", second_key.empty() ? kKey : second_key);
    one = std::make_unique<JobOfFakes>(4, "alpha", 0, keys / "one");
    two = std::make_unique<JobOfFakes>(4, "beta", 2, keys / "two");
    one->add_members(2);
    two->add_members(2);
    one->admin(1).learn_relay(relay_of(*two));
    two->admin(0).learn_relay(relay_of(*one));
  }
  Scratch keys;
  std::unique_ptr<JobOfFakes> one, two;
};

}  // namespace livebtl::test
