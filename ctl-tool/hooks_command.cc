// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hooks_command.cc -- hooks install | check: the scripts by which guest agents,
// hypervisors and checkpointers call btlctl (docs/HOOKS.md), put where these look for them.
#include <algorithm>
#include <filesystem>

#include "ctl-tool/commands.h"
#include "ctl-tool/hook_files.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

namespace fs = std::filesystem;

struct Found {
  const Hook* hook;
  std::string place;
  HookState state;
  std::string said = {};
  int code = 0;
};

Found install(const Hook& hook, const fs::path& root, bool dry_run) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  if (result.state == HookState::kCurrent) {
    result.said = "installed already";
  } else if (result.state == HookState::kForeign || result.state == HookState::kUnreadable ||
             result.state == HookState::kLeadsOut) {
    result.said = text_of(result.state);
    result.code = static_cast<int>(ExitCode::kRefused);
  } else if (dry_run) {
    result.said = "would be written";
  } else if (std::string wrong = write_hook(hook, place, result.state); !wrong.empty()) {
    result.said = std::move(wrong);
    result.code = static_cast<int>(ExitCode::kNotPermitted);
  } else {
    result.said = "installed; ";
    if (result.state == HookState::kOther)
      result.said += "what stood there is kept as " + kept_as(place).string() + "; ";
    result.said += std::string("now ") + hook.afterwards;
    result.state = state_of(hook, root, place);
    if (result.state != HookState::kCurrent)
      result.said += std::string("; but ") + text_of(result.state);
    if (place != root / hook.place)
      result.said += "; the dispatcher there goes on with the freeze even if no job could be held";
  }
  return result;
}

/// Without names a hook that is not there is no fault: few machines need all.
Found look_at(const Hook& hook, const fs::path& root, bool wanted) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  result.said = text_of(result.state);
  const bool fine =
      result.state == HookState::kCurrent || (result.state == HookState::kMissing && !wanted);
  result.code = fine ? 0 : static_cast<int>(ExitCode::kRefused);
  return result;
}

int say(const CommandLine& line, const std::vector<Found>& results) {
  int code = 0;
  Json list = Json::array();
  Table table({"HOOK", "FILE", "STATE"});
  for (const Found& each : results) {
    code = std::max(code, each.code);
    list.push_back({{"name", each.hook->name},
                    {"file", each.place},
                    {"installed", each.state == HookState::kCurrent},
                    {"text", each.said},
                    {"exit_code", each.code}});
    table.add({each.hook->name, printable(each.place), each.said});
  }
  if (line.json)
    print_json({{"schema", "livebtl.hooks/1"}, {"hooks", std::move(list)}, {"exit_code", code}});
  else
    print(table.text());
  return code;
}

}  // namespace

int run_hooks(const CommandLine& line, const std::atomic<bool>&) {
  if (std::error_code error; !fs::is_directory(line.root, error))
    return fail_early(line, {ExitCode::kNotFound, "--root: there is no directory " + line.root});
  const bool installs = line.arguments.front() == "install";
  const std::vector<std::string> names(line.arguments.begin() + 1, line.arguments.end());
  std::vector<Found> results;
  for (const Hook& hook : hooks()) {
    const bool named = std::find(names.begin(), names.end(), hook.name) != names.end();
    if (!named && (installs || !names.empty())) continue;
    results.push_back(installs ? install(hook, line.root, line.dry_run)
                               : look_at(hook, line.root, named));
  }
  return say(line, results);
}

}  // namespace livebtl::tool
