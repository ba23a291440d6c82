// SPDX-License-Identifier: BSD-3-Clause
// switches.h -- the switch that the ladder's tests order, and how far a member has got with it.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/ladder/ladder_world.h"

namespace livebtl::control {

inline const std::vector<std::string> kSmTcp = {"sm", "tcp"};
inline const std::vector<std::string> kTcpSm = {"tcp", "sm"};

inline bool at_rung(LadderWorld& world, std::size_t member, Rung rung) {
  return world.member(member).machine.standing(world.now()).rung == rung;
}

inline Command switch_command() {
  Command command;
  command.job = "job";
  command.verb = "switch";
  command.arguments = kSmTcp;
  command.coordinator = 1;
  command.operation = 7;
  return command;
}

}  // namespace livebtl::control
