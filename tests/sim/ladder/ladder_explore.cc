// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_explore.cc -- runs the explorer (ladder_explorer.h) on each case.
//
// usage: ladder_explore [CASE...]     default: all
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/sim/ladder/ladder_explorer.h"

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

constexpr std::size_t kStatesMax = 5'000'000;

/// true: everything was visited, and nothing was wrong.
bool explore(const Case& one) {
  Explorer explorer(one);
  try {
    const char* wrong = nullptr;
    if (!explorer.run(kStatesMax)) {
      wrong = "NOT all states visited";
    } else if (!explorer.all_new_reached()) {
      wrong = "NEW was never reached by all";
    }
    std::printf("%-20s %s: %zu states, %zu transitions, %zu ends\n", one.name,
                wrong != nullptr ? wrong : "all states visited", explorer.states(),
                explorer.transitions(), explorer.ends_checked());
    return wrong == nullptr;
  } catch (const Violation& violation) {
    std::printf("%-20s VIOLATION after %zu states: %s\n", one.name, explorer.states(),
                violation.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> wanted(argv + 1, argv + argc);
  if (wanted.empty()) {
    for (const Case& one : cases()) wanted.emplace_back(one.name);
  }
  bool good = true;
  for (const std::string& name : wanted) {
    const auto which = std::find_if(cases().begin(), cases().end(),
                                    [&](const Case& one) { return one.name == name; });
    if (which == cases().end()) {
      std::printf("there is no case %s\n", name.c_str());
      return 2;
    }
    good = explore(*which) && good;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}
