// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/wrong_words.h -- which btlctl command was given, and what is said about words that it
// does not take. Pure.
#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>
#include <vector>

#include "ctl-tool/command.h"

namespace livebtl::tool {

/// nullptr: there is none of that name.
const Command* command_named(std::span<const Command* const> commands, const std::string& name);

/// What was given: nothing, a command, or a command and its action; with their parts of the parser.
struct Given {
  std::vector<const Command*> commands = {};
  std::vector<const CLI::App*> apps = {};

  explicit Given(const CLI::App& app);
  bool complete() const { return !commands.empty() && commands.back()->actions.empty(); }
  std::string title() const;  // "vm migrate"; "": no command
};

/// The parser's error for people: a word that is no command, action or option, and what may have
/// been meant; what is missing, as the usage calls it; else the error's own text.
std::string wrong_word(const CLI::App& app, const Given& given, const CLI::Error& error);

/// Complains of an option of another action, as in `vm snapshot --card hca0`; "": none.
std::string misplaced_option(const Given& given);

}  // namespace livebtl::tool
