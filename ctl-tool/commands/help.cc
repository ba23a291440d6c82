// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/help.cc -- help [COMMAND]: the manual page if it and man are installed, else
// what --help prints.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

/// Does man have this page? Its own complaints are dropped.
bool man_has(const std::string& page) {
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  std::string program = "man", where = "-w", section = "1", name = page;
  std::array<char*, 5> words{program.data(), where.data(), section.data(), name.data(), nullptr};
  pid_t child = -1;
  const bool started = ::posix_spawnp(&child, "man", &actions, nullptr, words.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return started && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::string help_of(const std::string& command) {
  CommandLine line;
  const auto app = define_command_line(line);
  return command.empty() ? app->help() : app->get_subcommand(command)->help(app->get_name());
}

ExitCode show_help(const CommandLine& line, const std::atomic<bool>&) {
  const std::string command = line.words.empty() ? "" : line.words.front();
  const std::string page = command.empty() ? "btlctl" : "btlctl-" + command;
  if (man_has(page)) {
    ::execlp("man", "man", "1", page.c_str(), nullptr);
    complain("man cannot be started; this is the short help");
  }
  print(help_of(command));
  return ExitCode::kDone;
}

std::string conflict_of_help(const CommandLine& line) {
  if (line.json) return "help prints a page, not JSON";
  if (line.words.empty()) return "";
  std::vector<std::string_view> known;
  for (const Command* command : kCommands) known.emplace_back(command->name);
  const std::string& name = line.words.front();
  if (std::find(known.begin(), known.end(), name) != known.end()) return "";
  const auto near = nearest(name, known);
  return "there is no command '" + name + "'" +
         (near ? "; did you mean " + std::string(*near) + "?" : "");
}

void define_help(CLI::App& app, CommandLine& line) {
  app.add_option("COMMAND", line.words, "A command; default: btlctl as a whole")
      ->expected(0, 1)
      ->type_name("COMMAND")
      ->option_text(" ");
}

}  // namespace

const Command kHelp{
    .name = "help",
    .summary = "Show a command's manual page",
    .detail =
        R"(Shows the page with man, if man is installed and has it; else what COMMAND --help prints.

Examples:
  btlctl help
  btlctl help switch)",
    .define = define_help,
    .conflict = conflict_of_help,
    .run = show_help};

}  // namespace livebtl::tool
