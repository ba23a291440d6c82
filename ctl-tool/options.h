// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/options.h -- words and options that several commands share, and checks of single values.
// A validator's text follows the option's name: "--lease: it takes seconds, ...".
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <optional>
#include <string>

#include "ctl-tool/command_line.h"
#include "livebtl/result.h"

namespace livebtl::tool {

CLI::Validator takes_seconds(double least, double most = 86'400.0);
CLI::Validator takes_at_most(std::size_t bytes);
/// A validator from a function that says what is wrong with a text; "": nothing.
CLI::Validator checked(std::function<std::string(const std::string&)> problem);
/// The same from a function that reads the text, with its error.
template <class Value, class Text>
CLI::Validator checked_by(Result<Value> (*read)(Text)) {
  return checked([read](const std::string& text) {
    const Result<Value> value = read(text);
    return value ? "" : value.error().text;
  });
}

template <class Value>
CLI::Option* add_value(CLI::App& app, const char* name, Value& value, const char* type,
                       const char* text) {
  return app.add_option(name, value, text)->type_name(type);
}

/// A word, not an option. type: what the shell completes it with (complete.h).
template <class Value>
CLI::Option* add_word(CLI::App& app, const char* name, Value& value, const char* type,
                      const char* text) {
  return add_value(app, name, value, type, text)->required()->option_text(" ");
}

/// A word that goes to the arguments, with Open MPI's names replaced by ours.
void add_transport(CLI::App& app, CommandLine& line, const char* name, const char* text);
void add_scope(CLI::App& app, CommandLine& line);
CLI::Option* add_lease(CLI::App& app, CommandLine& line, double least, const char* otherwise,
                       const char* text);
void add_hold_id(CLI::App& app, CommandLine& line, const char* text);
/// --relay: for nodes that the members here may not know
void add_relays(CLI::App& app, CommandLine& line);
/// "": there is none.
std::string conflict_of_relays(const CommandLine& line);
/// --last: how many switches
void add_last(CLI::App& app, CommandLine& line);
/// For commands that draw a picture; "": no conflict.
std::string conflict_of_svg(const CommandLine& line);
void add_interval(CLI::App& app, CommandLine& line, double least);
/// Accepted but ignored: earlier versions took it here.
void add_ignored(CLI::App& app, const char* name);

/// "--lease", even for a hidden option, for which CLI11 gives no name; "": a word.
std::string option_name(const CLI::Option& option);
/// A word as help and manual show it; CLI11 takes no '=' in a name.
std::string shown_name(const CLI::Option& word);
/// "FROM", "[NAME...]"
std::string usage_of_word(const CLI::Option& word);

/// "0x1f2e"; nullopt: not a hold's id.
std::optional<std::uint64_t> read_hold_id(const std::string& text);

}  // namespace livebtl::tool
