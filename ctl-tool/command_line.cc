// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/command_line.cc -- see command_line.h. CLI11's exceptions stay in here.
#include "ctl-tool/command_line.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "control/client/relay_address.h"
#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/table.h"
#include "ctl-tool/wrong_words.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kArgumentBytesMax = 256;

/// No sensible job id or word is this long.
bool too_long(const std::string& text) { return text.size() > kArgumentBytesMax; }

/// A URI is for vm (commands/vm.cc); the other commands refuse it.
std::string problem_of_connect(const std::string& text) {
  if (text.find("://") != std::string::npos) return "";
  const auto place = control::parse_host_port(text);
  return place ? "" : place.error().text;
}

void define_outside(CLI::App& app, CommandLine& line) {
  CLI::Option* connect = add_value(app, "--connect", line.connect, "HOST:PORT",
                                   "Reach a job from a machine that has none of its processes, "
                                   "through the relay of any of its nodes (btlctl jobs)")
                             ->check(checked(problem_of_connect));
  add_value(app, "--secret-file", line.secret_file, "FILE",
            "With --connect: file with the job's secret, of mode 0600 and owned by you (from "
            "btlctl secret)")
      ->needs(connect);
}

void define_output(CLI::App& app, CommandLine& line) {
  const auto take_form = [&line](const std::string& form) {
    line.json = line.json || form == "json";
    line.wide = form == "wide";
  };
  app.add_option_function<std::string>(
         "-o,--output", take_form,
         "Output form: text; wide, with more columns and nothing cut to the terminal's width; or "
         "json, one document on standard output, even after a failure, and with watch and top one "
         "per line")
      ->type_name("FORM")
      ->default_str("text")
      ->check(CLI::IsMember({"text", "wide", "json"}).description(""));
  app.add_flag("--json", line.json, "Same as -o json");
}

void define_global(CLI::App& app, CommandLine& line) {
  add_value(app, "--job", line.job, "ID",
            "The job; needed only if this node has several (btlctl jobs)");
  add_value(app, "--user", line.user, "NAME",
            "Whose jobs on this node, by name or number; for root. Default: root's own, else those "
            "of the only user who has any");
  define_output(app, line);
  app.add_flag("--progress", line.progress,
               "Print progress even if standard error is not a terminal");
  app.add_flag("--quiet", line.quiet, "Print no progress")->excludes("--progress");
  add_value(app, "--timeout", line.timeout_s, "SECONDS",
            "Give up after this time, and take back what is not committed (30; commands that only "
            "look: 5; vm, checkpoint run and restore: 900; watch, top: exit then)")
      ->check(takes_seconds(0.001));
  app.add_flag("--dry-run", line.dry_run,
               "Say what a command would do to each process, and change nothing");
  CLI::Option* wait = app.add_flag("--wait")->description("Wait for the end (the default)");
  app.add_flag("--no-wait", line.no_wait,
               "Continue in the background once the command has begun; 0 means begun, and btlctl "
               "history shows the end")
      ->excludes(wait);
  add_value(app, "--generate", line.generate, "WHAT",
            "Print a part of the manual, and exit: page fills in a page's source (standard input), "
            "settings-man is livebtl-settings(7)")
      ->check(CLI::IsMember({"page", "settings-man"}).description(""));
  app.set_version_flag("--version", std::string("btlctl ") + LIVEBTL_VERSION, "Print the version");
}

std::string footer() {
  std::ostringstream text;
  text << R"(Examples:
  btlctl list                 which transports are there?
  btlctl switch sm tcp        move traffic, live
  btlctl remove sm            ... and release its device
  btlctl add sm               bring it back
  btlctl --connect node7:40123 --secret-file job.secret list
                              the same from a machine outside the job
  btlctl COMMAND --help       more about one command
  btlctl help COMMAND         its manual page

Open MPI's names are accepted too: vader is sm, openib is verbs.

Exit codes:
)";
  for (const auto& entry : kExitCodes)
    text << std::setw(4) << static_cast<int>(entry.code) << "  " << entry.meaning << "\n";
  return text.str();
}

class HelpFormatter : public CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool is_word) const override {
    return is_word ? shown_name(*option) : CLI::Formatter::make_option_name(option, is_word);
  }
  std::string make_option_usage(const CLI::Option* word) const override {
    return usage_of_word(*word);
  }
};

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

bool is_help(const CLI::Option& option) { return option_name(option) == "--help"; }

/// An action's options may also precede it: `hold --lease 5 start`. The group keeps them for the
/// action that follows.
void accept_early(CLI::App& group, CLI::App& action) {
  for (const CLI::Option* option : action.get_options()) {
    const std::string name = option_name(*option);
    if (option->get_positional() || group.get_option_no_throw(name) != nullptr) continue;
    if (is_flag(*option)) {
      group.add_flag(name)->group("");
    } else {
      group.add_option(name)
          ->group("")
          ->type_name(option->get_type_name())
          ->expected(option->get_expected_min(), option->get_expected_max())
          ->allow_extra_args(option->get_allow_extra_args());
    }
  }
  action.preparse_callback([&group, &action](std::size_t) {
    for (const CLI::Option* early : group.get_options()) {
      CLI::Option* own = action.get_option_no_throw(option_name(*early));
      if (own == nullptr || is_help(*early)) continue;
      for (const std::string& value : early->results()) own->add_result(value);
    }
  });
}

void define_command(CLI::App& parent, CommandLine& line, const Command& command) {
  CLI::App& app = *parent.add_subcommand(command.name, command.summary);
  app.group(parent.get_parent() == nullptr ? "Commands" : "Actions");
  app.footer(command.detail);
  if (!command.actions.empty()) app.require_subcommand(1);
  if (command.define != nullptr) command.define(app, line);
  for (const Command* action : command.actions) {
    define_command(app, line, *action);
    accept_early(app, *app.get_subcommand(action->name));
  }
}

/// command: as much of it as is known, "vm migrate"; "": nothing.
EndNow usage(const std::string& text, const std::string& command) {
  const std::string of_it = command.empty() ? "" : command + " ";
  return {ExitCode::kUsage, "btlctl: " + printable(text) + "\nTry: btlctl " + of_it + "--help\n"};
}

std::string problem_of(const CommandLine& line, const Given& given) {
  if (given.commands.empty()) return line.generate.empty() ? "a command is needed" : "";
  if (too_long(line.job) || std::any_of(line.arguments.begin(), line.arguments.end(), too_long))
    return "an argument is longer than 256 bytes";
  if (line.json && line.wide) return "--json and -o wide contradict each other; name one of them";
  if (std::string wrong = misplaced_option(given); !wrong.empty()) return wrong;
  const Command& leaf = *given.commands.back();
  const bool by_libvirt = line.connect.find("://") != std::string::npos;
  if (by_libvirt && std::string_view(given.commands.front()->name) != kVm.name)
    return "--connect takes HOST:PORT; libvirt's URI is for vm";
  if (leaf.foreground && line.no_wait) return "--no-wait is not possible with " + given.title();
  return leaf.conflict != nullptr ? leaf.conflict(line) : "";
}

/// `hold -- start` is `hold start`, for scripts that put -- before every word.
void drop_mark_before_action(std::vector<std::string>& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark == words.end() || mark + 1 == words.end()) return;
  const bool action = std::any_of(words.begin(), mark, [&mark](const std::string& word) {
    const Command* command = command_named(kCommands, word);
    return command != nullptr && command_named(command->actions, *(mark + 1)) != nullptr;
  });
  if (action) words.erase(mark);
}

/// `doctor -- LINE`: what follows -- is a launch line, whose options are not ours.
std::vector<std::string> taken_launch_line(std::vector<std::string>& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark == words.end() || std::find(words.begin(), mark, kDoctor.name) == mark) return {};
  std::vector<std::string> line(mark + 1, words.end());
  words.erase(mark, words.end());
  return line;
}

/// `help COMMAND`: the parser would take COMMAND for a second command.
std::vector<std::string> taken_help_topic(std::vector<std::string>& words) {
  const auto help = std::find(words.begin(), words.end(), kHelp.name);
  const bool first = std::none_of(words.begin(), help, [](const std::string& word) {
    return command_named(kCommands, word) != nullptr;
  });
  if (help == words.end() || help + 1 == words.end() || !first || (help + 1)->starts_with('-'))
    return {};
  std::vector<std::string> topic{*(help + 1)};
  words.erase(help + 1);
  return topic;
}

std::variant<CommandLine, EndNow> assembled(CommandLine line, const Given& given) {
  if (given.complete()) {
    line.definition = given.commands.back();
    line.command = given.commands.front()->name;
    if (given.commands.size() > 1)
      line.arguments.insert(line.arguments.begin(), line.definition->name);
  }
  if (std::string wrong = problem_of(line, given); !wrong.empty())
    return usage(wrong, given.title());
  return line;
}

}  // namespace

std::unique_ptr<CLI::App> define_command_line(CommandLine& line) {
  auto app = std::make_unique<CLI::App>(
      "btlctl -- change the network under a running MPI job over livebtl", "btlctl");
  app->require_subcommand(0, 1);
  app->fallthrough();
  app->formatter(std::make_shared<HelpFormatter>());
  define_outside(*app, line);
  define_global(*app, line);
  for (const Command* command : kCommands) define_command(*app, line, *command);
  app->footer(footer());
  return app;
}

std::variant<CommandLine, EndNow> parse_command_line(std::vector<std::string> arguments,
                                                     const std::string& environment_job,
                                                     const std::string& environment_user) {
  std::vector<std::string> launch_line = taken_launch_line(arguments);
  const std::vector<std::string> topic = taken_help_topic(arguments);
  const auto empty = [](const std::string& argument) { return argument.empty(); };
  if (std::any_of(arguments.begin(), arguments.end(), empty)) {
    return usage("an argument is empty; is a variable of your script not set?", "");
  }
  CommandLine line;
  const auto app = define_command_line(line);
  drop_mark_before_action(arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app->parse(std::move(arguments));
  } catch (const CLI::Success& end) {  // --help, --version
    std::ostringstream text;
    std::ostringstream ignored;
    app->exit(end, text, ignored);
    return EndNow{ExitCode::kDone, text.str()};
  } catch (const CLI::Error& error) {
    const Given given(*app);
    return usage(wrong_word(*app, given, error), given.title());
  }
  if (line.job.empty()) line.job = environment_job;
  if (line.user.empty()) line.user = environment_user;
  line.words.insert(line.words.end(), launch_line.begin(), launch_line.end());
  line.words.insert(line.words.end(), topic.begin(), topic.end());
  return assembled(std::move(line), Given(*app));
}

}  // namespace livebtl::tool
