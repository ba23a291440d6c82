# SPDX-License-Identifier: BSD-3-Clause
find_package(nlohmann_json REQUIRED)
# The machines of the ladder once more, optimised in every build: simulations live by their number.
add_library(livebtl_ladder_fast OBJECT
  ${CMAKE_SOURCE_DIR}/base/assert.cc
  ${CMAKE_SOURCE_DIR}/base/hex.cc
  ${CMAKE_SOURCE_DIR}/base/result.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/census.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/coordinator.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/coordinator_ladder.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/coordinator_outcome.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/coordinator_rivals.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/member.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/outcome.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/roster.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/scope.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/takeover_watch.cc
  ${CMAKE_SOURCE_DIR}/control/ladder/commands.cc
  ${CMAKE_SOURCE_DIR}/core/switch/routing.cc
  ladder_world.cc
  ladder_world_engine.cc
  ladder_world_takeover.cc)
target_link_libraries(livebtl_ladder_fast PUBLIC livebtl_options nlohmann_json::nlohmann_json)
target_compile_options(livebtl_ladder_fast PUBLIC -O2)
set_target_properties(livebtl_ladder_fast PROPERTIES UNITY_BUILD ON)  # compiled elsewhere, too, file by file

add_executable(ladder_seeds ladder_seeds.cc)
target_link_libraries(ladder_seeds PRIVATE livebtl_ladder_fast)
set(ladder_seed_count 2000)
if(LIVEBTL_SANITIZE)
  set(ladder_seed_count 300)
endif()
add_test(NAME ladder_seeds COMMAND ladder_seeds 1 ${ladder_seed_count})

add_executable(ladder_explore ladder_explore.cc)
target_link_libraries(ladder_explore PRIVATE livebtl_ladder_fast)
# A sanitizer takes ten times as long for a state, and what it looks for is in each case: it gets those with fewest
# states, in which there are still lost answers, time-outs, frames in flight and a second coordinator.
if(LIVEBTL_SANITIZE)
  set(explored data two-commands)
endif()
add_test(NAME ladder_explore COMMAND ladder_explore ${explored})
