// SPDX-License-Identifier: BSD-3-Clause
// ladder_explore.cc -- runs the explorer (ladder_explorer.h) on each case.
//
// usage: ladder_explore [CASE|all [STATES_MAX]]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ladder_explorer.h"

using namespace livebtl::control::explore;

namespace {

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"data", 2, {{"switch", "a", "b"}}, 2, 1, 2},
      {"resume", 2, {{"switch", "a", "b"}, {"resume"}}, 1, 0, 0},
      {"resume-data", 2, {{"switch", "a", "b"}, {"resume"}}, 0, 0, 1},
      {"abort", 2, {{"switch", "a", "b"}, {"abort"}}, 1, 0, 0},
      {"abort-data", 2, {{"switch", "a", "b"}, {"abort"}}, 0, 0, 1},
      {"refusal", 2, {{"switch", "a", "b"}, {"resume"}}, 0, 1, 0},
      {"two-commands", 2, {{"switch", "a", "b"}, {"remove", "a"}}, 0, 0, 0},
      {"three-members", 3, {{"switch", "a", "b"}}, 1, 1, 1},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "all";
  const std::size_t states_max = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5'000'000;
  int bad = 0;
  bool any = false;
  for (const Case& one : cases()) {
    if (only != "all" && only != one.name) continue;
    any = true;
    Explorer explorer(one);
    const char* result = "all states visited";
    try {
      if (!explorer.run(states_max)) {
        result = "NOT all states visited";
        ++bad;
      } else if (!explorer.all_new_reached()) {
        result = "NEW was never reached by all";
        ++bad;
      }
      std::printf("%-20s %s: %zu states, %zu transitions, %zu ends\n", one.name, result,
                  explorer.states(), explorer.transitions(), explorer.ends_checked());
    } catch (const Violation& violation) {
      ++bad;
      std::printf("%-20s VIOLATION after %zu states: %s\n", one.name, explorer.states(),
                  violation.what());
    }
    std::fflush(stdout);
  }
  return bad == 0 && any ? 0 : 1;
}
