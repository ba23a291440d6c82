// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/generate.cc -- see generate.h.
#include "ctl-tool/generate.h"

#include <set>
#include <sstream>

#include "base/exit_code.h"
#include "base/settings.h"
#include "ctl-tool/command_line.h"
#include "ctl-tool/embedded_text.h"
#include "ctl-tool/hook_files.h"
#include "ctl-tool/options.h"
#include "ctl-tool/run/run_line.h"
#include "ctl-tool/table.h"

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

/// Explanation, then "Example:" and commands, which keep their lines.
void write_detail(std::ostringstream& page, const std::string& detail) {
  const auto example = detail.find("Example");
  std::string text = detail.substr(0, example);
  text.erase(text.find_last_not_of('\n') + 1);
  if (!text.empty()) page << ".PP\n" << roff(text) << "\n";
  if (example == std::string::npos) return;
  const auto commands = detail.find('\n', example);
  page << ".PP\nFor example:\n.PP\n.nf\n" << roff(detail.substr(commands + 1)) << "\n.fi\n";
}

void write_option(std::ostringstream& page, const CLI::Option& option) {
  if (option.get_group().empty()) return;
  const bool flag = option.get_expected_max() == 0;
  page << ".TP\n.B "
       << roff(option.get_positional() ? shown_name(option) : option.get_name(false, true));
  if (!flag && !option.get_positional()) page << " \\fI" << roff(option.get_type_name()) << "\\fR";
  page << "\n" << roff(option.get_description()) << ".\n";
}

/// "hold start", "switch FROM TO", "hooks check [NAME...]"
std::string usage_of(const CLI::App& command, const std::string& parents) {
  std::string text = parents + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) text += " " + usage_of_word(*option);
  }
  return text;
}

void write_command(std::ostringstream& page, const CLI::App& command, const std::string& parents) {
  const auto actions = command.get_subcommands({});
  page << ".SS btlctl " << roff(usage_of(command, parents)) << (actions.empty() ? "" : " ...")
       << "\n"
       << roff(command.get_description()) << ".\n";
  write_detail(page, command.get_footer());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() != "--help") write_option(page, *option);
  }
  for (const CLI::App* action : actions)
    write_command(page, *action, parents + command.get_name() + " ");
}

/// What follows that word or option is completed with. "": with nothing.
std::string kind_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  if (type == "TRANSPORT" || type == "HOOK") return type;
  const bool file = type == "FILE" || type == "SOCKET" || type == "PATH" || type == "DIRECTORY";
  return file ? "FILE" : "";
}

std::vector<std::string> visible_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && !option->get_group().empty())
      names.push_back(option->get_name());
  }
  return names;
}

std::vector<std::string> visible_actions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* action : app.get_subcommands({})) names.push_back(action->get_name());
  return names;
}

/// Of the completion: one for each command and action, with its options and what its words are.
struct Branches {
  std::ostringstream paths, cases;
  std::set<std::string> with_file;  // options whose value is a file

  void add(const CLI::App& app, const std::string& path) {
    std::string kind;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() && kind.empty()) kind = kind_of(*option);
      if (!option->get_positional() && kind_of(*option) == "FILE")
        with_file.insert(option->get_name());
    }
    if (!path.empty()) paths << (paths.tellp() == 0 ? "" : " | ") << "\"" << path << "\"";
    cases << "  \"" << path << "\") words=\"" << join(visible_actions(app), " ")
          << "\" options+=\" " << join(visible_options(app), " ") << "\" kind=" << kind << " ;;\n";
    for (const CLI::App* action : app.get_subcommands({}))
      add(*action, path + " " + action->get_name());
  }
};

/// The file of texts/ of that name, with what belongs in its @PLACES@.
std::string filled(std::string_view name,
                   std::initializer_list<std::pair<std::string_view, std::string>> places) {
  std::string text = embedded_text(name);
  for (const auto& [place, value] : places) text.replace(text.find(place), place.size(), value);
  return text;
}

}  // namespace

std::string manual_page() {
  CommandLine line;
  const auto app = define_command_line(line);
  std::ostringstream options, commands, codes;
  for (const CLI::Option* option : app->get_options()) write_option(options, *option);
  for (const CLI::App* command : app->get_subcommands({})) write_command(commands, *command, "");
  for (const auto& entry : kExitCodes)
    codes << ".TP\n.B " << static_cast<int>(entry.code) << "\n" << roff(entry.meaning) << ".\n";
  return filled("btlctl.1", {{"@VERSION@", LIVEBTL_VERSION},
                             {"@OPTIONS@\n", options.str()},
                             {"@COMMANDS@\n", commands.str()},
                             {"@EXIT_CODES@\n", codes.str()}});
}

std::string settings_page() {
  std::ostringstream settings;
  for (const SettingInfo& setting : setting_table()) {
    settings << ".TP\n.B LIVEBTL_" << setting.name << " \\fR(" << roff(std::string(setting.type))
             << ", default: "
             << (setting.fallback.empty() ? "empty" : roff(std::string(setting.fallback))) << ")\n"
             << roff(std::string(setting.meaning)) << ".\n";
  }
  return filled("livebtl-settings.7",
                {{"@VERSION@", LIVEBTL_VERSION}, {"@SETTINGS@\n", settings.str()}});
}

std::string run_page() {
  RunLine line;
  const auto app = define_run_line(line);
  std::ostringstream options;
  for (const CLI::Option* option : app->get_options()) write_option(options, *option);
  return filled("livebtl-run.1", {{"@VERSION@", LIVEBTL_VERSION}, {"@OPTIONS@\n", options.str()}});
}

std::string completion() {
  CommandLine line;
  const auto app = define_command_line(line);
  Branches branches;
  branches.add(*app, "");
  return filled("completion.bash",
                {{"@OPTIONS@", join(visible_options(*app), " ")},
                 {"@PATHS@", branches.paths.str()},
                 {"@CASES@\n", branches.cases.str()},
                 {"@WITH_FILE@", join({branches.with_file.begin(), branches.with_file.end()}, " ")},
                 {"@HOOKS@", join(hook_names(), " ")}});
}

}  // namespace livebtl::tool
