// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/rules.cc -- see rules.h.
#include "control/ladder/rules.h"

#include <algorithm>

#include "base/transport_name.h"

namespace livebtl::control {
namespace {

bool is_covered(const core::Rules& rules, const std::string& name) {
  return core::covers(rules.excluded, name) || core::covers(rules.set_aside, name);
}

/// The others of its family, which are ruled one by one when it is taken out of the family's rule.
Names others(const std::string& name, const Names& known) {
  Names found;
  for (const std::string& each : known) {
    if (each != name && is_meant_by(each, family_of(name))) found.insert(each);
  }
  return found;
}

void take_out(Names& ruled, const std::string& name, const Names& known) {
  std::erase_if(ruled, [&](const std::string& each) { return is_meant_by(each, name); });
  if (ruled.erase(std::string(family_of(name))) != 0) ruled.merge(others(name, known));
}

void take_out(std::map<std::string, std::string>& moved, const std::string& name,
              const Names& known) {
  std::erase_if(moved, [&](const auto& each) { return is_meant_by(each.first, name); });
  const auto of_all = moved.extract(std::string(family_of(name)));
  if (of_all.empty()) return;
  for (const std::string& other : others(name, known)) moved.try_emplace(other, of_all.mapped());
}

void put_in(Names& ruled, const std::string& name) {
  if (core::covers(ruled, name)) return;
  std::erase_if(ruled, [&](const std::string& each) { return is_meant_by(each, name); });
  ruled.insert(name);
}

}  // namespace

bool is_away(const core::Rules& rules, const std::string& name, const Names& known) {
  const auto of_it = [&](const std::string& each) { return is_meant_by(each, name); };
  return is_covered(rules, name) ||
         (std::ranges::any_of(known, of_it) && std::ranges::all_of(known, [&](const auto& each) {
            return !of_it(each) || is_covered(rules, each);
          }));
}

bool is_inseparable(const core::Rules& rules, const std::string& name, const Names& known) {
  const std::string family(family_of(name));
  return family != name && known.contains(family) &&
         (rules.excluded.contains(family) || rules.set_aside.contains(family) ||
          rules.quiesced.contains(family) || rules.moved.contains(family));
}

void apply_checkpoint(const std::vector<std::string>& arguments, core::Rules& rules,
                      const core::Rules& of_job) {
  if (arguments.front() == "return") return rules.set_aside.clear();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!is_away(rules, name) && !is_away(of_job, name)) put_in(rules.set_aside, name);
  }
}

void apply_rule(std::string_view verb, const std::vector<std::string>& arguments,
                core::Rules& rules, const Names& known) {
  const std::string& name = arguments.front();
  if (verb == "add") {
    for (Names* const ruled : {&rules.excluded, &rules.set_aside, &rules.quiesced})
      take_out(*ruled, name, known);
    take_out(rules.moved, name, known);
  } else if (verb == "quiesce") {
    put_in(rules.quiesced, name);
  } else if (verb == "remove") {
    put_in(rules.excluded, name);
  } else {
    const std::string& to = arguments[1];
    take_out(rules.moved, to, known);
    std::erase_if(rules.moved, [&](const auto& each) { return is_meant_by(each.first, name); });
    rules.moved[name] = to;
    take_out(rules.quiesced, to, known);
  }
}

}  // namespace livebtl::control
