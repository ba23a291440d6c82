// SPDX-License-Identifier: BSD-3-Clause
// control/relay/fellow_relays.h -- relays of other nodes, as the members of a relay's node tell them.
//
// Pure; used by the relay's one thread. A member may tell anything: their number is bounded, and one that nobody tells any
// more is forgotten.
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
  /// Questions to the members: a relay that was told in answer to none of the last so many is forgotten.
  static constexpr std::uint64_t kUntoldMax = 30;

  /// The members are asked now.
  void asked() {
    ++asked_;
    std::erase_if(relays_, [this](const auto& each) { return asked_ - each.second > kUntoldMax; });
  }
  /// A member tells of these; malformed ones are passed over.
  void learn(const std::vector<std::string>& relays) {
    for (const std::string& relay : relays) {
      if (!valid_relay(relay)) continue;
      const auto known = relays_.find(relay);
      if (known != relays_.end()) known->second = asked_;
      if (known == relays_.end() && relays_.size() < kMax) relays_.emplace(relay, asked_);
    }
  }
  /// Beginning at another one each time: where an answer has no room for all, the next one tells others.
  std::vector<std::string> list() {
    std::vector<std::string> names;
    for (const auto& [relay, told] : relays_) names.push_back(relay);
    turn_by(names, listed_++);
    return names;
  }

 private:
  std::map<std::string, std::uint64_t>
      relays_;  // by the number of the question when each was told last
  std::uint64_t asked_ = 0;
  std::size_t listed_ = 0;
};

}  // namespace livebtl::control
