// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/hooks.cc -- hooks install | remove | check: the scripts by which guest agents,
// hypervisors and checkpointers call btlctl (docs/HOOKS.md), put where those look for them.
#include <algorithm>
#include <filesystem>

#include "ctl-tool/command.h"
#include "ctl-tool/hook_files.h"
#include "ctl-tool/options.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

namespace fs = std::filesystem;

struct Found {
  const Hook* hook;
  std::string place;
  HookState state;
  std::string text = {};
  ExitCode code = ExitCode::kDone;
};

bool is_not_ours_to_change(HookState state) noexcept {
  return state == HookState::kForeign || state == HookState::kUnreadable ||
         state == HookState::kLeadsOut;
}

Found install(const Hook& hook, const fs::path& root, bool dry_run) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  if (result.state == HookState::kCurrent) {
    result.text = "installed already";
  } else if (is_not_ours_to_change(result.state)) {
    result.text = text_of(result.state);
    result.code = ExitCode::kRefused;
  } else if (const std::string package = package_of(root, place); !package.empty()) {
    result.text = std::string(text_of(result.state)) + "; it is of the package " + package +
                  ": install that one again";
    result.code = ExitCode::kRefused;
  } else if (dry_run) {
    result.text = "would be written";
  } else if (std::string wrong = write_hook(hook, place, result.state); !wrong.empty()) {
    result.text = std::move(wrong);
    result.code = ExitCode::kNotPermitted;
  } else {
    result.text = "installed; ";
    if (result.state == HookState::kOther)
      result.text += "what stood there is kept as " + kept_as(place).string() + "; ";
    result.text += std::string("now ") + hook.afterwards;
    result.state = state_of(hook, root, place);
    if (result.state != HookState::kCurrent)
      result.text += std::string("; but ") + text_of(result.state);
    if (hook.directory != nullptr && place != root / hook.place)
      result.text += "; the dispatcher there goes on with the freeze even if no job could be held";
  }
  return result;
}

Found remove(const Hook& hook, const fs::path& root, bool dry_run) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  const HookState before = result.state;
  if (before == HookState::kMissing) {
    result.text = text_of(before);
  } else if (is_not_ours_to_change(before)) {
    result.text = text_of(before);
    result.code = ExitCode::kRefused;
  } else if (const std::string package = package_of(root, place); !package.empty()) {
    result.text = "it is of the package " + package + ": remove that one";
    result.code = ExitCode::kRefused;
  } else if (dry_run) {
    result.text = "would be removed";
  } else if (std::string wrong = remove_hook(place, before); !wrong.empty()) {
    result.text = std::move(wrong);
    result.code = ExitCode::kNotPermitted;
  } else {
    result.text = "removed";
    if (before == HookState::kOther)
      result.text += "; what stood there is kept as " + kept_as(place).string();
    result.state = HookState::kMissing;
  }
  return result;
}

/// If no hook is named, a missing one is no fault: few machines need all.
Found look_at(const Hook& hook, const fs::path& root, bool wanted) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  result.text = text_of(result.state);
  const bool fine =
      result.state == HookState::kCurrent || (result.state == HookState::kMissing && !wanted);
  result.code = fine ? ExitCode::kDone : ExitCode::kRefused;
  return result;
}

ExitCode report_hooks(const CommandLine& line, const std::vector<Found>& results) {
  ExitCode code = ExitCode::kDone;
  Json list = Json::array();
  Table table({"HOOK", "FILE", "STATE"});
  for (const Found& each : results) {
    code = std::max(code, each.code);
    list.push_back({{"name", each.hook->name},
                    {"file", each.place},
                    {"installed", each.state == HookState::kCurrent},
                    {"text", each.text},
                    {"exit_code", static_cast<int>(each.code)},
                    {"reason", reason_of(each.code)}});
    table.add({each.hook->name, printable(each.place), each.text},
              each.code == ExitCode::kDone ? Tone::kPlain : Tone::kBad);
  }
  print(line,
        {{"schema", "livebtl.hooks/1"},
         {"hooks", std::move(list)},
         {"exit_code", static_cast<int>(code)},
         {"reason", reason_of(code)}},
        table);
  return code;
}

ExitCode run_hooks(const CommandLine& line, const std::atomic<bool>&) {
  if (std::error_code error; !fs::is_directory(line.root, error))
    return end_early(line, {ExitCode::kNotFound, "--root: there is no directory " + line.root});
  const std::string& action = line.arguments.front();
  const bool looks = action == "check";
  const std::vector<std::string> names(line.arguments.begin() + 1, line.arguments.end());
  std::vector<Found> results;
  for (const Hook& hook : hooks()) {
    const bool named = std::find(names.begin(), names.end(), hook.name) != names.end();
    if (!named && (!looks || !names.empty())) continue;
    results.push_back(looks                 ? look_at(hook, line.root, named)
                      : action == "install" ? install(hook, line.root, line.dry_run)
                                            : remove(hook, line.root, line.dry_run));
  }
  return report_hooks(line, results);
}

CLI::Option* add_names(CLI::App& app, CommandLine& line, const std::string& text) {
  add_value(app, "--root", line.root, "DIRECTORY",
            "Root of the file system, such as that of a guest's image")
      ->capture_default_str();
  return app.add_option("NAME", line.arguments, text)
      ->expected(0, static_cast<int>(hooks().size()))
      ->check(CLI::IsMember(hook_names()).description(""))
      ->type_name("HOOK")
      ->option_text(" ");
}

void define_named(CLI::App& app, CommandLine& line) {
  add_names(app, line, join(hook_names(), ", "));
}

void define_hooks_check(CLI::App& app, CommandLine& line) {
  add_names(app, line, join(hook_names(), ", ") + "; default: all");
}

/// install and remove choose no hook by themselves.
std::string conflict_of_named(const CommandLine& line) {
  if (line.arguments.size() > 1) return "";
  std::vector<std::string> known;
  for (const Hook& hook : hooks())
    known.push_back(std::string(hook.name) + " (" + hook.where + ")");
  return "hooks " + line.arguments.front() + ": which? " + join(known, ", ");
}

const Command kInstall{
    .name = "install",
    .summary = "Write hooks to where their callers look for them",
    .detail = R"(Replaces an older livebtl hook, and leaves a file that is not livebtl's alone.

Examples:
  btlctl hooks install libvirt
  btlctl --dry-run hooks install qemu-ga --root /srv/image)",
    .define = define_named,
    .conflict = conflict_of_named,
    .run = run_hooks};

const Command kRemove{
    .name = "remove",
    .summary = "Remove hooks that install has written",
    .detail =
        R"(Leaves alone a file that is not livebtl's, and one that a package has installed. A hook that was
edited is kept beside it, under a hidden name.

Example:
  btlctl hooks remove libvirt)",
    .define = define_named,
    .conflict = conflict_of_named,
    .run = run_hooks};

const Command kHooksCheck{.name = "check",
                          .summary = "Check that hooks are there, whole and executable",
                          .detail = R"(Example:
  btlctl hooks check)",
                          .define = define_hooks_check,
                          .run = run_hooks};

const Command* const kHooksActions[] = {&kInstall, &kRemove, &kHooksCheck};

}  // namespace

const Command kHooks{
    .name = "hooks",
    .summary = "Install, remove or check the hooks of guest agents, hypervisors and checkpointers",
    .detail =
        R"(install writes each named hook to where its caller looks for it, and remove takes it away; check
tells whether each is there, whole and executable, and whether anybody else may write to it.

Examples:
  btlctl hooks install libvirt
  btlctl hooks check
  btlctl --dry-run hooks install qemu-ga --root /srv/image)",
    .actions = kHooksActions};

}  // namespace livebtl::tool
