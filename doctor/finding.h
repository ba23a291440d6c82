// SPDX-License-Identifier: BSD-3-Clause
// doctor/finding.h -- what `btlctl doctor` has found: what is so, why it matters, what to type. Plain values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace livebtl::doctor {

struct Finding {
  enum class Kind {
    kFault,  // something does not work, or not as it should
    kNote    // nothing is broken, but somebody may wonder
  };
  std::string id;  // stable, for programs: "memlock"
  Kind kind = Kind::kFault;
  std::string what;
  std::string why;
  std::string action;
};

struct Report {
  std::vector<Finding> findings;
  std::vector<std::pair<std::string, std::string>> facts;  // what is well: "provider", "loads"

  void fault(std::string_view id, std::string what, std::string why, std::string action) {
    findings.push_back({std::string(id), Finding::Kind::kFault, std::move(what), std::move(why),
                        std::move(action)});
  }
  void note(std::string_view id, std::string what, std::string why, std::string action) {
    findings.push_back({std::string(id), Finding::Kind::kNote, std::move(what), std::move(why),
                        std::move(action)});
  }
  void fact(std::string_view about, std::string text) {
    facts.emplace_back(std::string(about), std::move(text));
  }
};

}  // namespace livebtl::doctor
