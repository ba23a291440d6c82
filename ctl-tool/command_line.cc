// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/command_line.cc -- see command_line.h. CLI11 and its exceptions stay in here and in
// generate.cc.
#include "ctl-tool/command_line.h"
#include "base/exit_code.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/hex.h"
#include "base/nearest.h"
#include "control/client/relay_address.h"
#include "control/ladder/commands.h"
#include "control/ladder/scope.h"
#include "ctl-tool/line_checks.h"
#include "ctl-tool/table.h"
#include "ctl-tool/verb_texts.h"

namespace livebtl::tool {
namespace {

constexpr int kUsage = 1;

void define_outside(CLI::App& app, CommandLine& line) {
  CLI::Option* connect =
      app.add_option("--connect", line.connect,
                     "Reach a job from a machine that has none of its processes, by the relay of "
                     "any of its nodes (btlctl jobs shows them)")
          ->type_name("HOST:PORT");
  app.add_option("--secret-file", line.secret_file,
                 "With --connect: the job's secret, a file of mode 0600 that is yours (btlctl "
                 "secret writes it)")
      ->type_name("FILE")
      ->needs(connect);
}

void define_global(CLI::App& app, RawArguments& raw) {
  CommandLine& line = raw.line;
  app.add_option("--job", line.job, "The job; needed only if this node has several (btlctl jobs)")
      ->type_name("ID");
  app.add_flag("--json", line.json,
               "Print one JSON document on standard output, whatever comes of it; with watch one a "
               "line");
  app.add_flag("--progress", line.progress, "Print progress even where nobody watches a terminal");
  app.add_flag("--quiet", line.quiet, "Print no progress")->excludes("--progress");
  app.add_option("--timeout", line.timeout_s,
                 "Give up after this time, and take back what is not committed (30; to look: 5; "
                 "watch: then it ends)")
      ->type_name("SECONDS");
  app.add_flag("--dry-run", line.dry_run,
               "Say what a command would do to each process, and change nothing");
  app.add_flag("--wait", line.wait, "Wait for the end; this is the default");
  app.add_flag("--no-wait", raw.no_wait, "Go on in the background once the command has begun")
      ->excludes("--wait");
  app.add_option("--generate", line.generate, "Print man, completion or settings-man, and end")
      ->type_name("WHAT")
      ->group("");
  app.set_version_flag("--version", std::string("btlctl ") + LIVEBTL_VERSION, "Print the version");
}

CLI::App* define_verb(CLI::App& app, RawArguments& raw, const Verb& verb) {
  CLI::App* command = app.add_subcommand(verb.name, verb.summary);
  command->footer(verb.detail);
  command->callback([&raw, name = std::string(verb.name)] { raw.line.verb = name; });
  return command;
}

void add_positional(CLI::App* command, const char* name, std::string& value, const char* text) {
  command->add_option(name, value, text)->required()->type_name(" ");
}

void add_scope(CLI::App* command, RawArguments& raw) {
  command
      ->add_option("--scope", raw.line.scope,
                   "job, or node:NAME: only pairs with an end on that node, by its host's name or "
                   "by its id (btlctl status)")
      ->type_name("SCOPE");
}

void define_transport_verbs(CLI::App& app, RawArguments& raw) {
  for (const Verb& verb : kOnTransport) {
    CLI::App* command = define_verb(app, raw, verb);
    add_positional(command, "NAME", raw.first, "A transport: sm, tcp, ... (btlctl list)");
    add_scope(command, raw);
  }
  CLI::App* command = define_verb(app, raw, kSwitch);
  add_scope(command, raw);
  add_positional(command, "FROM", raw.first, "The transport that traffic leaves");
  add_positional(command, "TO", raw.second, "The transport that it goes to");
  command = define_verb(app, raw, kSet);
  add_positional(command, "NAME", raw.first, "A transport");
  command
      ->add_option("KEY=VALUE", raw.assignments,
                   "exclusivity=N and/or weight=N; N: a number (weight: from 1), or default")
      ->required()
      ->type_name(" ")
      ->expected(1, 2);
}

void define_views(CLI::App& app, RawArguments& raw) {
  CommandLine& line = raw.line;
  define_verb(app, raw, kStatus)
      ->add_flag("--peers", line.peers, "Show each pair: transport, messages, bytes kept");
  CLI::App* watch = define_verb(app, raw, kWatch);
  watch->add_option("--interval", line.interval_s, "Time between two looks")
      ->type_name("SECONDS")
      ->capture_default_str();
  watch->add_flag("--once", line.once, "Look once, and end");
  define_verb(app, raw, kSecret)
      ->add_option("FILE", line.file, "The file to make, with mode 0600")
      ->required()
      ->type_name(" ");
}

CLI::Option* add_lease(CLI::App* command, RawArguments& raw, const char* text) {
  return command->add_option("--lease", raw.line.lease_s, text)
      ->type_name("SECONDS")
      ->capture_default_str();
}

void define_checkpoint(CLI::App& app, RawArguments& raw) {
  CLI::App* command = define_verb(app, raw, kCheckpoint);
  add_positional(command, "ACTION", raw.first, "prepare or return");
  command
      ->add_option("NAME", raw.names,
                   "With prepare: these transports; without: all that are bound to a device")
      ->type_name(" ")
      ->expected(0, 4);
  add_scope(command, raw);
  CLI::Option* hold = command->add_flag("--hold", raw.line.hold,
                                        "With prepare: then park all traffic, as hold start");
  // A lease of nothing would look as if the job were held.
  add_lease(command, raw, "With --hold: how long the hold lasts if nobody ends it")->needs(hold);
}

void define_hooks(CLI::App& app, RawArguments& raw) {
  CLI::App* command = define_verb(app, raw, kHooks);
  add_positional(command, "ACTION", raw.first, "install or check");
  command->add_option("NAME", raw.names, "qemu-ga, libvirt, virsh, criu; check without names: all")
      ->type_name(" ")
      ->expected(0, 4);
  command
      ->add_option("--root", raw.line.root,
                   "Where the file system begins, of an image of a guest, say")
      ->type_name("DIRECTORY")
      ->capture_default_str();
}

void define_hold(CLI::App& app, RawArguments& raw) {
  CLI::App* command = define_verb(app, raw, kHold);
  add_positional(command, "ACTION", raw.first, "start, renew, check or end");
  add_lease(
      command, raw,
      "With start and renew: how long it lasts from now on if nobody ends it (at most 86400)");
  command
      ->add_option("--id", raw.line.hold_id,
                   "Only this hold, as start names it; with start: its name, a number drawn at "
                   "random (without it start draws one)")
      ->type_name("ID");
}

void define_job(CLI::App& app, RawArguments& raw) {
  CLI::App* command = define_verb(app, raw, kJob);
  add_positional(command, "ACTION", raw.first, "restored");
  add_lease(command, raw, "How long the hold lasts at least, should this be interrupted");
  command
      ->add_option("--id", raw.line.hold_id,
                   "The hold during which the snapshots were taken; without: the one that holds")
      ->type_name("ID");
}

void define_vm(CLI::App& app, RawArguments& raw) {
  CLI::App* command = define_verb(app, raw, kVm);
  add_positional(command, "ACTION", raw.first, "migrate, snapshot or restore");
  add_vm_options(*command, raw.line.vm);
}

std::string footer() {
  std::ostringstream text;
  text << "Examples:\n"
          "  btlctl list                 what transports are there?\n"
          "  btlctl switch sm tcp        move traffic, live\n"
          "  btlctl remove sm            ... and let its device go\n"
          "  btlctl add sm               bring it back\n"
          "  btlctl --connect node7:40123 --secret-file job.secret list\n"
          "                              the same from a machine outside the job\n"
          "  btlctl COMMAND --help       more on one command\n\n"
          "Names from Open MPI are understood too: vader is sm, openib is verbs.\n\n"
          "Exit codes:\n";
  for (const auto& entry : exit_codes()) {
    text << std::setw(4) << static_cast<int>(entry.code) << "  " << entry.meaning << "\n";
  }
  return text.str();
}

EndNow usage(const std::string& text) {
  return {kUsage, "btlctl: " + printable(text) + "\nTry: btlctl --help\n"};
}

std::vector<std::string> known_words(const CLI::App& app, bool options) {
  std::vector<std::string> known;
  if (!options) {
    for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
    return known;
  }
  for (const CLI::Option* option : app.get_options()) known.push_back(option->get_name());
  for (const CLI::App* command : app.get_subcommands()) {  // the one that was given
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
  }
  return known;
}

/// What was typed that is no command or option, and what may have been meant; "": something else is
/// wrong.
std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return "";
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const bool option = word.starts_with('-');
  if (!option && !app.get_subcommands().empty()) return "";
  const std::vector<std::string> known = known_words(app, option);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto near = nearest(word, candidates);
  return std::string("there is no ") + (option ? "option '" : "command '") + word + "'" +
         (near ? "; did you mean " + std::string(*near) + "?" : "");
}

CommandLine assemble(RawArguments& raw) {
  CommandLine line = std::move(raw.line);
  line.wait = !raw.no_wait;
  if (!raw.first.empty()) line.arguments.push_back(canonical_transport(raw.first));
  if (!raw.second.empty()) line.arguments.push_back(canonical_transport(raw.second));
  for (const auto& name : raw.names) line.arguments.push_back(canonical_transport(name));
  line.arguments.insert(line.arguments.end(), raw.assignments.begin(), raw.assignments.end());
  return line;
}

bool generates(const std::string& kind) {
  constexpr const char* kKinds[] = {"", "man", "completion", "settings-man"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

std::variant<CommandLine, EndNow> check(CommandLine line) {
  constexpr double kSecondsMax = 86'400.0;
  if (line.timeout_s && !(*line.timeout_s >= 0.001 && *line.timeout_s <= kSecondsMax)) {
    return usage("--timeout takes seconds, from 0.001 to 86400");
  }
  if (!(line.interval_s >= 0.05 && line.interval_s <= kSecondsMax)) {
    return usage("--interval takes seconds, from 0.05 to 86400");
  }
  if (const std::string wrong = problem_of_words(line); !wrong.empty()) return usage(wrong);
  if (!line.connect.empty()) {
    if (const auto place = control::parse_host_port(line.connect); !place)
      return usage("--connect: " + place.error().text);
  }
  if (!generates(line.generate)) {
    return usage("--generate takes man, completion or settings-man");
  }
  if (line.verb.empty() && line.generate.empty()) return usage("a command is needed");
  return line;
}

}  // namespace

std::optional<std::uint64_t> read_hold_id(const std::string& text) {
  const auto id = parse_hex_id(text);
  return id && *id != 0 ? id : std::nullopt;
}

std::string canonical_transport(const std::string& name) {
  if (name == "vader") return "sm";
  if (name == "openib") return "verbs";
  return name;
}

std::unique_ptr<CLI::App> define_command_line(RawArguments& raw) {
  auto app = std::make_unique<CLI::App>(
      "btlctl -- changes the network under a running MPI job, without its noticing", "btlctl");
  app->require_subcommand(0, 1);
  app->fallthrough();
  define_outside(*app, raw.line);
  define_global(*app, raw);
  for (const Verb& verb : kPlain) define_verb(*app, raw, verb);
  define_transport_verbs(*app, raw);
  define_checkpoint(*app, raw);
  define_hooks(*app, raw);
  define_hold(*app, raw);
  define_job(*app, raw);
  define_vm(*app, raw);
  define_views(*app, raw);
  app->footer(footer());
  return app;
}

std::variant<CommandLine, EndNow> parse_command_line(std::vector<std::string> arguments,
                                                     const std::string& environment_job) {
  const auto empty = [](const std::string& argument) { return argument.empty(); };
  if (std::any_of(arguments.begin(), arguments.end(), empty)) {
    return usage("an argument is empty; is a variable of your script not set?");
  }
  RawArguments raw;
  const auto app = define_command_line(raw);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app->parse(std::move(arguments));
  } catch (const CLI::Success& end) {  // --help, --version
    std::ostringstream text;
    std::ostringstream ignored;
    app->exit(end, text, ignored);
    return EndNow{0, text.str()};
  } catch (const CLI::Error& error) {
    const std::string unknown = unknown_word(*app);
    return usage(unknown.empty() ? error.what() : unknown);
  }
  if (raw.line.job.empty()) raw.line.job = environment_job;
  return check(assemble(raw));
}

}  // namespace livebtl::tool
