// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/full_standing.h -- a standing, and its parts, with every field set.
#pragma once

#include "control/wire/messages.h"

namespace livebtl::test {

using namespace livebtl::control;

inline constexpr Incarnation kSecond{2};

/// One entry more than JSON has in a list for people.
inline std::vector<std::string> crowd(const std::string& name) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i <= kNamesMax; ++i) list.push_back(name + std::to_string(i));
  return list;
}

inline core::Rules full_rules() {
  core::Rules rules;
  rules.excluded = {"verbs", "self"};
  rules.quiesced = {"tcp"};
  rules.moved = {{"sm", "tcp"}, {"tcp", "ofi"}};
  rules.set_aside = {"ofi"};
  return rules;
}

inline Routing full_routing() {
  Routing routing;
  static_cast<core::Rules&>(routing) = full_rules();
  routing.tuning["tcp"].exclusivity = 100;
  routing.tuning["sm"].weight = 7;
  routing.nodes["0123456789abcdef"] = full_rules();
  return routing;
}

inline Operation full_operation() {
  return {0xfedcba9876543210ULL, "switch",      {"sm", "t\"c\\p\n"}, "0123456789abcdef", true,
          full_routing(),        full_routing()};
}

inline core::RungReport full_rung_report() {
  return {0x11,
          12,
          Rung::kJoint,
          false,
          "cut off",
          true,
          crowd("pair"),
          13,
          14,
          crowd("waiting"),
          crowd("foreign"),
          crowd("absent")};
}

inline core::HoldReport full_hold_report() {
  return {0x51,
          core::HoldState::kParking,
          3,
          59'000,
          true,
          0x52,
          Incarnation{9},
          0x50,
          "broken",
          "refused",
          crowd("frame")};
}

inline Standing full_standing() {
  Standing standing;
  standing.member = {ProcessId{77}, kSecond};
  standing.name = "rank 3 on node17 \xc3\xa9 \xff";
  standing.rank = 3;
  standing.node = "n1";
  standing.host = "node17";
  standing.term = {3, 0xffffffffffffffffULL};
  standing.seq = 9;
  standing.epoch = 4'294'967'295U;
  standing.version = 12;
  standing.rung = Rung::kNewTx;
  standing.reached = false;
  standing.undoing = standing.joining = standing.stale = standing.busy = standing.left_open = true;
  standing.refused_seq = 8;
  standing.operation = full_operation();
  standing.report = full_rung_report();
  standing.routing = full_routing();
  standing.transports = {{"sm", "vader", false}, {"verbs", "openib", true}};
  standing.list_size = 5;
  standing.announced = 6;
  return standing;
}

}  // namespace livebtl::test
