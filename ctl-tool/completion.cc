// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/completion.cc -- bash completion, from the definition of the command line: one branch for
// each command and action, with its options and what its words are.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <set>
#include <sstream>

#include "ctl-tool/command_line.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/hook_files.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

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

std::string known_hooks() {
  std::vector<std::string> names;
  for (const Hook& hook : hooks()) names.emplace_back(hook.name);
  return join(names, " ");
}

constexpr const char* kTransports = R"sh(
    # A name may hold ':', at which bash ends a word, and ';', which is to be quoted.
    word=${COMP_LINE:0:COMP_POINT} word=${word##* }
    while read -r w; do
      COMPREPLY+=("$(printf %q "${w#"${word%"${word##*:}"}"}")")
    done < <(compgen -W "$(btlctl --timeout 1 list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word")
)sh";

}  // namespace

std::string completion() {
  CommandLine line;
  const auto app = define_command_line(line);
  Branches branches;
  branches.add(*app, "");
  std::ostringstream script;
  script << "# SPDX-License-Identifier: BSD-3-Clause\n# Made by: btlctl --generate completion\n"
         << "_btlctl() {\n"
         << "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         << "  local w path= words= kind= options=\"" << join(visible_options(*app), " ") << "\"\n"
         << "  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         << "    case \"$path $w\" in\n    " << branches.paths.str() << ") path+=\" $w\" ;;\n"
         << "    esac\n  done\n"
         << "  case $path in\n"
         << branches.cases.str() << "  esac\n"
         << "  if [[ $before == --job ]]; then\n"
         << "    words=$(btlctl jobs 2>/dev/null | awk 'NR > 1 { print $1 }') kind=\n"
         << "  elif [[ \" " << join({branches.with_file.begin(), branches.with_file.end()}, " ")
         << " \" == *\" $before \"* ]]; then\n    kind=FILE words=\n"
         << "  elif [[ $word == -* ]]; then\n    words=$options kind=\n"
         << "  elif [[ $kind == HOOK ]]; then\n    words=\"" << known_hooks() << "\"\n  fi\n"
         << "  if [[ $kind == FILE ]]; then\n    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         << "  elif [[ $kind == TRANSPORT ]]; then" << kTransports
         << "  else\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         << "  fi\n}\ncomplete -F _btlctl btlctl\n";
  return script.str();
}

}  // namespace livebtl::tool
