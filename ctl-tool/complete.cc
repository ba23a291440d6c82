// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/complete.cc -- see complete.h.
#include "ctl-tool/complete.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/transport_name.h"
#include "ctl-tool/command.h"
#include "ctl-tool/hook_files.h"
#include "ctl-tool/options.h"
#include "ctl-tool/run/run_line.h"

namespace livebtl::tool {
namespace {

using Candidates = std::vector<Candidate>;
using Also = Completion::Also;

bool is_shown_option(const CLI::Option& option) {
  return !option.get_positional() && !option.get_group().empty();
}

bool takes_no_value(const CLI::Option& option) { return option.get_expected_max() == 0; }

/// Finds both "-o" and "--output". Hidden options count: a group takes its actions' options early.
const CLI::Option* option_in(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && option->check_name(name)) return option;
  }
  return nullptr;
}

const CLI::App* action_in(const CLI::App& app, const std::string& name) {
  for (const CLI::App* action : app.get_subcommands({})) {
    if (action->get_name() == name) return action;
  }
  return nullptr;
}

/// What the words before the last one have selected.
struct TypedLine {
  std::vector<const CLI::App*> apps;          // the program, its command, the action
  const CLI::Option* awaits_value = nullptr;  // the next word is its value
  std::vector<std::string> words = {};        // not options; after command and action
  std::string job = {}, user = {};
  bool outside = false;     // --connect: this node's jobs are not meant
  bool words_only = false;  // after --

  const CLI::Option* option(const std::string& name) const {
    for (const CLI::App* app : apps) {
      if (const CLI::Option* found = option_in(*app, name)) return found;
    }
    return nullptr;
  }
};

void note_value(TypedLine& typed_line, const CLI::Option& option, const std::string& value) {
  const std::string name = option_name(option);
  if (name == "--job") typed_line.job = value;
  if (name == "--user") typed_line.user = value;
  if (name == "--connect") typed_line.outside = true;
}

void take_option(TypedLine& typed_line, const std::string& word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const CLI::Option* option = typed_line.option(word.substr(0, equals));
  if (option == nullptr || takes_no_value(*option)) return;
  if (equals == word.size())
    typed_line.awaits_value = option;
  else
    note_value(typed_line, *option, word.substr(equals + 1));
}

void take_word(TypedLine& typed_line, const std::string& word) {
  if (typed_line.awaits_value != nullptr) {
    note_value(typed_line, *typed_line.awaits_value, word);
    typed_line.awaits_value = nullptr;
  } else if (!typed_line.words_only && word == "--") {
    typed_line.words_only = true;
  } else if (!typed_line.words_only && word.size() > 1 && word.front() == '-') {
    take_option(typed_line, word);
  } else if (const CLI::App* action = action_in(*typed_line.apps.back(), word)) {
    typed_line.apps.push_back(action);
  } else {
    typed_line.words.push_back(word);
  }
}

Candidates of_commands() {
  Candidates all;
  for (const Command* command : kCommands) all.push_back({command->name, command->summary});
  return all;
}

Candidates of_actions(const CLI::App& app) {
  Candidates all;
  for (const CLI::App* action : app.get_subcommands({}))
    all.push_back({action->get_name(), action->get_description()});
  return all;
}

Candidates of_options(const TypedLine& typed_line) {
  Candidates all;
  for (const CLI::App* app : typed_line.apps) {
    for (const CLI::Option* option : app->get_options()) {
      const bool known = std::any_of(all.begin(), all.end(), [option](const Candidate& each) {
        return each.word == option->get_name();
      });
      if (is_shown_option(*option) && !known)
        all.push_back({option->get_name(), option->get_description()});
    }
  }
  return all;
}

/// Values that the program itself defines; nullopt: they come from the job, or there are none.
std::optional<Candidates> of_fixed_type(const std::string& type) {
  if (type == "FORM") return Candidates{{"text"}, {"wide"}, {"json"}};
  if (type == "WHAT") return Candidates{{"page"}, {"settings-man"}};
  if (type == "KEY=VALUE")
    return Candidates{{"exclusivity=", "the highest that a pair reaches is used"},
                      {"weight=", "share of bulk data"},
                      {"single-copy=", "only sm: auto, cma, knem or none"}};
  if (type == "COMMAND") return of_commands();
  if (type != "HOOK") return std::nullopt;
  Candidates all;
  for (const Hook& hook : hooks()) all.push_back({hook.name, hook.where});
  return all;
}

Candidates of_scopes(const Candidates& nodes) {
  Candidates all{{"job", "all pairs"}};
  for (const Candidate& node : nodes) all.push_back({"node:" + node.word, node.meaning});
  return all;
}

Candidates of_job(const TypedLine& typed_line, const CLI::Option& option, LookAround look) {
  const std::string type = option.get_type_name(), name = option_name(option);
  const bool known = type == "TRANSPORT" || type == "SCOPE" || name == "--job" || name == "--id" ||
                     name == "--user" || name == "--connect";
  if (!known) return {};
  if (typed_line.outside && name != "--connect")
    return type == "SCOPE" ? of_scopes({}) : Candidates{};
  Seen seen = look(name == "--job" ? "" : typed_line.job, name == "--user" ? "" : typed_line.user);
  if (type == "TRANSPORT") return with_families(seen.transports);
  if (type == "SCOPE") return of_scopes(seen.nodes);
  if (name == "--job") return seen.jobs;
  if (name == "--user") return seen.users;
  return name == "--id" ? seen.holds : seen.relays;
}

Completion of_value(const TypedLine& typed_line, const CLI::Option& option, LookAround look) {
  const std::string type = option.get_type_name();
  if (type == "DIRECTORY") return {{}, Also::kDirectories};
  if (type == "FILE" || type == "SOCKET" || type == "PATH") return {{}, Also::kFiles};
  if (type == "LINE") return {{}, Also::kCommand};
  if (auto fixed = of_fixed_type(type)) return {std::move(*fixed)};
  return {of_job(typed_line, option, look)};
}

/// The word that comes next, if the command takes one more.
const CLI::Option* next_word(const TypedLine& typed_line) {
  std::size_t left = typed_line.words.size();
  for (const CLI::Option* option : typed_line.apps.back()->get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<std::size_t>(std::max(option->get_expected_max(), 1));
    if (left < most) return option;
    left -= most;
  }
  return nullptr;
}

Completion of_word(const TypedLine& typed_line, LookAround look) {
  const CLI::App& app = *typed_line.apps.back();
  if (typed_line.apps.size() == 1) return {of_commands()};
  if (!app.get_subcommands({}).empty()) return {of_actions(app)};
  const CLI::Option* next = next_word(typed_line);
  if (next == nullptr) return {};
  // What follows doctor's -- is a launch line; its launcher and arguments are not ours.
  if (next->get_type_name() == "LINE" && !typed_line.words_only)
    return {{{"--", "a launch line follows"}}};
  Completion completion = of_value(typed_line, *next, look);
  // No word again, nor the family of a given one: it would be refused, or add nothing.
  for (const std::string& word : typed_line.words)
    std::erase_if(completion.candidates,
                  [&word](const Candidate& each) { return is_meant_by(word, each.word); });
  return completion;
}

/// "--scope=no": candidates for the value, with the option before each.
Completion of_joined_value(const TypedLine& typed_line, const std::string& typed, LookAround look) {
  const std::size_t equals = typed.find('=');
  const CLI::Option* option = typed_line.option(typed.substr(0, equals));
  if (option == nullptr || takes_no_value(*option)) return {};
  Completion completion = of_value(typed_line, *option, look);
  for (Candidate& each : completion.candidates) each.word = typed.substr(0, equals + 1) + each.word;
  return completion;
}

void keep_those_that_begin(Completion& completion, const std::string& typed) {
  std::erase_if(completion.candidates,
                [&typed](const Candidate& each) { return !each.word.starts_with(typed); });
}

}  // namespace

Completion complete(const std::vector<std::string>& words, LookAround look) {
  CommandLine line;
  const auto app = define_command_line(line);
  const std::string typed = words.empty() ? "" : words.back();
  TypedLine typed_line{{app.get()}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) take_word(typed_line, words[i]);
  Completion completion;
  if (typed_line.awaits_value != nullptr)
    completion = of_value(typed_line, *typed_line.awaits_value, look);
  else if (!typed_line.words_only && typed.starts_with("--") &&
           typed.find('=') != std::string::npos)
    completion = of_joined_value(typed_line, typed, look);
  else if (!typed_line.words_only && typed.starts_with('-'))
    completion.candidates = of_options(typed_line);
  else
    completion = of_word(typed_line, look);
  keep_those_that_begin(completion, typed);
  return completion;
}

Completion complete_run(const std::vector<std::string>& words) {
  RunLine line;
  const auto app = define_run_line(line);
  const std::string typed = words.empty() ? "" : words.back();
  TypedLine typed_line{{app.get()}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    take_word(typed_line, words[i]);
    if (typed_line.words_only || !typed_line.words.empty()) return {{}, Also::kCommand};
  }
  Completion completion;
  if (typed_line.awaits_value != nullptr)
    completion.candidates = {{"auto"}, {"component"}, {"provider"}};
  else if (typed.starts_with('-'))
    completion.candidates = of_options(typed_line);
  else
    completion = {{{"mpirun"}, {"mpiexec"}, {"srun"}}, Also::kCommand};
  keep_those_that_begin(completion, typed);
  return completion;
}

}  // namespace livebtl::tool
