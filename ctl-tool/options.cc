// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/options.cc -- see options.h.
#include "ctl-tool/options.h"

#include <cmath>
#include <sstream>

#include "base/hex.h"
#include "base/transport_name.h"
#include "control/client/relay_address.h"
#include "control/ladder/history.h"
#include "control/ladder/hold_types.h"
#include "control/ladder/scope.h"
#include "ctl-tool/choose_job.h"

namespace livebtl::tool {
namespace {

std::string problem_of_scope(const std::string& text) {
  return control::well_formed_scope(text) ? "" : "it takes job or node:NAME";
}

std::string problem_of_hold_id(const std::string& text) {
  return read_hold_id(text) ? "" : "it takes the id of a hold, such as 0x1f2e3d4c5b6a7988";
}

}  // namespace

CLI::Validator takes_seconds(double least, double most) {
  // CLI::Range lets "nan" pass.
  return checked([least, most](const std::string& text) {
    double seconds = std::nan("");
    if (CLI::detail::lexical_cast(text, seconds) && seconds >= least && seconds <= most)
      return std::string();
    std::ostringstream wrong;
    wrong << "it takes seconds, from " << least << " to " << most;
    return wrong.str();
  });
}

CLI::Validator takes_at_most(std::size_t bytes) {
  return checked([bytes](const std::string& text) {
    return text.size() <= bytes ? "" : "it takes at most " + std::to_string(bytes) + " bytes";
  });
}

CLI::Validator checked(std::function<std::string(const std::string&)> problem) {
  return CLI::Validator(std::move(problem), "");
}

void add_transport(CLI::App& app, CommandLine& line, const char* name, const char* text) {
  const auto take = [&line](const std::string& word) {
    line.arguments.emplace_back(canonical_transport(word));
  };
  app.add_option_function<std::string>(name, take, text)
      ->required()
      ->type_name("TRANSPORT")
      ->option_text(" ");
}

void add_scope(CLI::App& app, CommandLine& line) {
  add_value(app, "--scope", line.scope, "SCOPE",
            "job, or node:NAME: only pairs with an end on that node, given by host name or id "
            "(btlctl status)")
      ->check(checked(problem_of_scope));
}

CLI::Option* add_lease(CLI::App& app, CommandLine& line, double least, const char* otherwise,
                       const char* text) {
  return add_value(app, "--lease", line.lease_s, "SECONDS", text)
      ->default_str(otherwise)
      ->check(takes_seconds(least));
}

void add_hold_id(CLI::App& app, CommandLine& line, const char* text) {
  add_value(app, "--id", line.hold_id, "ID", text)->check(checked(problem_of_hold_id));
}

void add_relays(CLI::App& app, CommandLine& line) {
  add_value(app, "--relay", line.relays, "ADDRESS:PORT",
            "The relay of a node whose addresses have changed, if the members here cannot know it; "
            "may be repeated")
      ->allow_extra_args(false)
      ->check(checked_by(control::parse_relay));
}

std::string conflict_of_relays(const CommandLine& line) {
  if (!line.relays.empty() && !line.connect.empty())
    return "--relay is for a node of the job; --connect names a relay itself";
  std::size_t bytes = 0;
  for (const std::string& relay : relays_of(line)) bytes += relay.size();
  if (line.relays.size() <= control::kHoldRelaysMax && bytes <= control::kHoldRelayBytesMax)
    return "";
  return "--relay: these are too many; name at most 1024, each by one address";
}

std::string conflict_of_svg(const CommandLine& line) {
  return line.svg && line.json ? "--svg prints a picture, --json a document; name one of them" : "";
}

void add_last(CLI::App& app, CommandLine& line) {
  add_value(app, "--last", line.last, "NUMBER", "Only the NUMBER newest switches")
      ->check(CLI::Range(std::size_t{1}, control::kSwitchesKept).description(""));
}

void add_interval(CLI::App& app, CommandLine& line, double least) {
  add_value(app, "--interval", line.interval_s, "SECONDS", "Time between two looks")
      ->capture_default_str()
      ->check(takes_seconds(least));
}

void add_ignored(CLI::App& app, const char* name) { app.add_option(name)->group(""); }

std::string option_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

std::string shown_name(const CLI::Option& word) {
  const std::string type = word.get_type_name();
  return type.find('=') != std::string::npos ? type : word.get_name(true);
}

std::string usage_of_word(const CLI::Option& word) {
  const std::string name = shown_name(word) + (word.get_expected_max() > 1 ? "..." : "");
  return word.get_required() ? name : "[" + name + "]";
}

std::optional<std::uint64_t> read_hold_id(const std::string& text) {
  const auto id = parse_hex_id(text);
  return id && *id != 0 ? id : std::nullopt;
}

}  // namespace livebtl::tool
