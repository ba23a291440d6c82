// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/wrong_words.cc -- see wrong_words.h.
#include "ctl-tool/wrong_words.h"

#include <algorithm>
#include <string_view>

#include "base/nearest.h"
#include "base/text.h"
#include "ctl-tool/options.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

std::vector<std::string> names_of(std::span<const Command* const> commands) {
  std::vector<std::string> names;
  for (const Command* command : commands) names.emplace_back(command->name);
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto near = nearest(word, candidates);
  return near ? "; did you mean " + std::string(*near) + "?" : "";
}

std::vector<std::string> names_of_options(const CLI::App& app, const Given& given) {
  std::vector<std::string> names;
  const auto add = [&names](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options()) {
      if (!option->get_group().empty()) names.push_back(option->get_name());
    }
  };
  add(app);
  for (const CLI::App* part : given.apps) add(*part);
  return names;
}

/// "start, renew, check or end"
std::string one_of(std::vector<std::string> names) {
  const std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : join(names, ", ") + " or " + last;
}

/// What was typed that is no command, action or option, and what may have been meant; "": something
/// else is wrong.
std::string unknown_word(const CLI::App& app, const Given& given) {
  const std::vector<std::string> unknown = app.remaining(true);
  const std::string word =
      unknown.empty() ? "" : unknown.front().substr(0, unknown.front().find('='));
  if (word.starts_with('-')) {
    if (!given.apps.empty() && given.apps.back()->get_option_no_throw(word) != nullptr)
      return word + " stands behind the command: btlctl " + given.title() + " " + word + " ...";
    return "there is no option '" + word + "'" + did_you_mean(word, names_of_options(app, given));
  }
  if (given.complete() || (given.commands.empty() && word.empty())) return "";
  if (given.commands.empty()) {
    return "there is no command '" + word + "'" + did_you_mean(word, names_of(kCommands));
  }
  const auto actions = names_of(given.commands.back()->actions);
  return given.title() + " takes " + one_of(actions) + did_you_mean(word, actions);
}

/// What the command still needs, as its usage calls it; "": nothing.
std::string missing_word(const Given& given) {
  if (given.apps.empty()) return "";
  for (const CLI::Option* option : given.apps.back()->get_options()) {
    if (!option->get_required() || option->count() != 0) continue;
    return (option->get_positional() ? shown_name(*option) : option_name(*option)) + " is required";
  }
  return "";
}

}  // namespace

const Command* command_named(std::span<const Command* const> commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&name](const Command* each) { return each->name == name; });
  return found == commands.end() ? nullptr : *found;
}

Given::Given(const CLI::App& app) {
  std::span<const Command* const> known = kCommands;
  for (auto chosen = app.get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands()) {
    apps.push_back(chosen.front());
    commands.push_back(command_named(known, apps.back()->get_name()));
    known = commands.back()->actions;
  }
}

std::string Given::title() const { return join(names_of(commands), " "); }

std::string wrong_word(const CLI::App& app, const Given& given, const CLI::Error& error) {
  std::string wrong = unknown_word(app, given);
  if (wrong.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    wrong = missing_word(given);
  return wrong.empty() ? error.what() : wrong;
}

std::string misplaced_option(const Given& given) {
  if (given.apps.size() < 2) return "";
  const CLI::App& group = *given.apps.front();
  for (const CLI::Option* early : group.get_options()) {
    const std::string name = option_name(*early);
    if (early->count() == 0 || given.apps.back()->get_option_no_throw(name) != nullptr) continue;
    std::vector<std::string> others;
    for (const CLI::App* other : group.get_subcommands({})) {
      if (other->get_option_no_throw(name) != nullptr) others.push_back(other->get_name());
    }
    return given.title() + " takes no " + name + "; " + join(others, " and ") +
           (others.size() == 1 ? " does" : " do");
  }
  return "";
}

}  // namespace livebtl::tool
