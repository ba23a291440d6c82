// SPDX-License-Identifier: BSD-3-Clause
// control/relay/fellow_relays.h -- relays of other nodes, as reported by this node's members.
//
// Pure; used by the relay's one thread. A member may report anything: the relays are bounded in
// number, and one that is no longer reported is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/wire/messages.h"
#include "control/wire/route.h"

namespace livebtl::control {

class FellowRelays {
 public:
  static constexpr std::size_t kMax = 512;
  /// A relay reported in answer to none of the last so many questions to the members is forgotten.
  static constexpr std::uint64_t kUntoldMax = 30;

  /// The members are asked now.
  void asked() {
    ++asked_;
    std::erase_if(relays_, [this](const auto& each) { return asked_ - each.second > kUntoldMax; });
  }
  /// A member reports these; malformed ones are ignored.
  void learn(const std::vector<std::string>& relays) {
    for (const std::string& relay : relays) {
      if (!valid_relay(relay)) continue;
      const auto known = relays_.find(relay);
      if (known != relays_.end()) known->second = asked_;
      if (known == relays_.end() && relays_.size() < kMax) relays_.emplace(relay, asked_);
    }
  }
  /// Starts at a different one each time: if an answer has no room for all, the next one lists
  /// others.
  std::vector<std::string> list() {
    std::vector<std::string> names;
    for (const auto& [relay, told] : relays_) names.push_back(relay);
    turn_by(names, listed_++);
    return names;
  }

 private:
  std::map<std::string, std::uint64_t>
      relays_;  // by the number of the question when each was last reported
  std::uint64_t asked_ = 0;
  std::size_t listed_ = 0;
};

}  // namespace livebtl::control
