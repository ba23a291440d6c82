// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.cc -- see generate.h.
#include "ctl-tool/generate.h"

#include <functional>
#include <map>
#include <sstream>

#include "base/exit_code.h"
#include "base/settings.h"
#include "ctl-tool/command.h"
#include "ctl-tool/embedded_text.h"
#include "ctl-tool/options.h"
#include "ctl-tool/run/run_line.h"
#include "ctl-tool/table.h"
#include "perf/line.h"

namespace livebtl::tool {
namespace {

/// Text in roff: nothing in it is a request or an escape.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

/// Text in scdoc: nothing in it begins or ends a font.
std::string scdoc(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '_' || c == '*' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "*" + scdoc(text) + "*"; }
std::string italic(const std::string& text) { return "_" + scdoc(text) + "_"; }

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0; }
bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

/// "*-o*, *--output* _FORMAT_"
std::string title_of(const CLI::Option& option) {
  if (option.get_positional()) return italic(shown_name(option));
  std::string title;
  for (const std::string& name : option.get_snames()) title += bold("-" + name) + ", ";
  for (const std::string& name : option.get_lnames()) title += bold("--" + name) + ", ";
  title.erase(title.size() - 2);
  return title + (takes_value(option) ? " " + italic(option.get_type_name()) : "");
}

std::string options_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    if (app.get_parent() != nullptr && option->get_name() == "--help") continue;
    const std::string otherwise = option->get_default_str();
    text += title_of(*option) + "\n\t" + scdoc(option->get_description()) + "." +
            (otherwise.empty() ? "" : " Default: " + scdoc(otherwise) + ".") + "\n\n";
  }
  return text.empty() ? "No option of its own; those of *btlctl*(1) may be given.\n" : text;
}

std::string synopsis_of(const CLI::App& app, const std::string& name) {
  std::string text = name;
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option) || option->get_name() == "--help") continue;
    if (option->get_positional()) {
      words += " " + usage_of_word(*option);
      continue;
    }
    std::string part = option_name(*option);
    if (takes_value(*option)) part += " " + option->get_type_name();
    if (option->get_expected_max() > 1) part += " ...";
    text += option->get_required() ? " " + part : " [" + part + "]";
  }
  return text + words;
}

/// null: there is no such command.
const CLI::App* found_app(const CLI::App& app, const std::string& name) {
  const CLI::App* at = &app;
  std::istringstream words(name);
  for (std::string word; at != nullptr && words >> word;) {
    const auto known =
        at->get_subcommands([&word](const CLI::App* each) { return each->get_name() == word; });
    at = known.empty() ? nullptr : known.front();
  }
  return at;
}

std::string commands_text() {
  std::string text;
  for (const Command* command : kCommands)
    text +=
        "*btlctl-" + std::string(command->name) + "*(1)\n\t" + scdoc(command->summary) + ".\n\n";
  return text;
}

std::string exit_codes_text() {
  std::string text;
  for (const auto& entry : kExitCodes)
    text += "*" + std::to_string(static_cast<int>(entry.code)) + "* " + italic(entry.reason) +
            "\n\t" + scdoc(entry.meaning) + ".\n\n";
  return text;
}

/// The text that replaces @KIND NAME@; nullopt: no such place.
std::optional<std::string> text_of_place(const std::string& kind, const std::string& name) {
  CommandLine line;
  RunLine run_line;
  if (kind == "VERSION") return LIVEBTL_VERSION;
  if (kind == "COMMANDS") return commands_text();
  if (kind == "EXIT_CODES") return exit_codes_text();
  if (kind != "OPTIONS") return std::nullopt;
  if (name == "livebtl-run") return options_text(*define_run_line(run_line));
  if (name == "btlperf") {
    perf::Line perf_line;
    return options_text(*perf::define_line(perf_line));
  }
  const auto app = define_command_line(line);
  const CLI::App* const found = found_app(*app, name);
  return found != nullptr ? std::optional(options_text(*found)) : std::nullopt;
}

/// The file of that name in texts/, with its @PLACES@ filled in.
std::string filled(std::string_view name,
                   std::initializer_list<std::pair<std::string_view, std::string>> places) {
  std::string text = embedded_text(name);
  for (const auto& [place, value] : places) text.replace(text.find(place), place.size(), value);
  return text;
}

}  // namespace

Result<std::string> filled_page(const std::string& source) {
  std::string page;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t begin = source.find('@', at);
    const std::size_t end = begin == std::string::npos ? begin : source.find('@', begin + 1);
    if (end == std::string::npos) return page + source.substr(at);
    const std::string place = source.substr(begin + 1, end - begin - 1);
    const std::size_t space = std::min(place.find(' '), place.size());
    const auto text =
        text_of_place(place.substr(0, space), place.substr(std::min(space + 1, place.size())));
    if (!text)
      return fail(Errc::kInvalid, "@" + place.substr(0, 80) +
                                      "@ is no place that can be filled; there are @VERSION@, "
                                      "@OPTIONS COMMAND@, @COMMANDS@ and @EXIT_CODES@");
    page += source.substr(at, begin - at) + *text;
    at = end + 1;
  }
  return page;
}

std::vector<std::string> synopses_of(const std::string& command) {
  RunLine run_line;
  if (command == "livebtl-run")
    return {synopsis_of(*define_run_line(run_line), command) + " LAUNCHER [ARGUMENTS]..."};
  if (command == "btlperf") {
    perf::Line perf_line;
    return {synopsis_of(*perf::define_line(perf_line), command)};
  }
  CommandLine line;
  const auto app = define_command_line(line);
  const CLI::App* const found = found_app(*app, command);
  std::vector<std::string> lines;
  if (found == nullptr) return lines;
  for (const CLI::App* action : found->get_subcommands({}))
    lines.push_back(synopsis_of(*action, "btlctl " + command + " " + action->get_name()));
  if (lines.empty()) lines.push_back(synopsis_of(*found, "btlctl " + command));
  return lines;
}

std::string settings_page() {
  std::ostringstream settings;
  for (const SettingInfo& setting : setting_table()) {
    settings << ".TP\n.B LIVEBTL_" << setting.name << " \\fR(" << roff(std::string(setting.type))
             << ", default: "
             << (setting.fallback.empty() ? "empty" : roff(std::string(setting.fallback))) << ")\n"
             << roff(std::string(setting.meaning))
             << (setting.meaning.ends_with('?') ? "\n" : ".\n");
  }
  return filled("livebtl-settings.7",
                {{"@VERSION@", LIVEBTL_VERSION}, {"@SETTINGS@\n", settings.str()}});
}

}  // namespace livebtl::tool
