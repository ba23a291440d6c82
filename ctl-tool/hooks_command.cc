// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hooks_command.cc -- hooks install | check: the scripts by which guest agents,
// hypervisors and checkpointers call btlctl (docs/HOOKS.md), put where these look for them.
//
// What stands there already may be anybody's: only a file that names itself one of ours is
// replaced, as a whole.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ctl-tool/commands.h"
#include "ctl-tool/hook_texts.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

namespace fs = std::filesystem;
using control::ExitCode;

struct Hook {
  const char* name;
  const char* place;
  const char* text;
  const char* afterwards;
};

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all = {
      {"qemu-ga", "etc/qemu/fsfreeze-hook", kHookQemuGa,
       "start qemu-ga with -F (or --fsfreeze-hook), if it is not"},
      {"libvirt", "etc/libvirt/hooks/qemu.d/livebtl", kHookLibvirt,
       "restart libvirt's daemon: it looks for hooks when it starts; then /etc/livebtl/guests"},
      {"criu", "usr/local/libexec/livebtl/criu", kHookCriu,
       "give it to criu by --action-script, at dump and at restore"}};
  return all;
}

enum class State { kMissing, kCurrent, kOther, kForeign, kNotExecutable, kWritable, kUnreadable };

const char* text_of(State state) {
  switch (state) {
    case State::kMissing:
      return "not installed";
    case State::kCurrent:
      return "installed";
    case State::kOther:
      return "of another version of livebtl; install it again";
    case State::kForeign:
      return "none of livebtl's: move it away, or have it call ours";
    case State::kNotExecutable:
      return "not executable; install it again";
    case State::kWritable:
      return "others than its owner may write to it; install it again";
    case State::kUnreadable:
      return "cannot be read";
  }
  return "?";
}

/// Ours say so in a line that no other file has.
bool names_itself_ours(const Hook& hook, const std::string& text) {
  return text.find(std::string("# scripts/hooks/") + hook.name + " -- ") != std::string::npos;
}

State state_of(const Hook& hook, const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::not_found) return State::kMissing;
  std::ifstream file(place, std::ios::binary);
  if (error || status.type() != fs::file_type::regular || !file) return State::kUnreadable;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!names_itself_ours(hook, text)) return State::kForeign;
  if (text != hook.text) return State::kOther;
  using fs::perms;
  if ((status.permissions() & (perms::group_write | perms::others_write)) != perms::none)
    return State::kWritable;
  const bool runs = (status.permissions() & perms::owner_exec) != perms::none;
  return runs ? State::kCurrent : State::kNotExecutable;
}

/// Whole or not at all: the caller may come at any time. "": done, or what went wrong.
std::string write_hook(const Hook& hook, const fs::path& place) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  const fs::path fresh = place.string() + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << hook.text;
  file.close();
  if (!file) return "cannot write " + fresh.string() + "; are you root?";
  fs::permissions(fresh, static_cast<fs::perms>(0755), error);
  if (!error) fs::rename(fresh, place, error);
  if (!error) return "";
  const std::string why = error.message();
  fs::remove(fresh, error);
  return "cannot make " + place.string() + ": " + why;
}

struct Found {
  const Hook* hook;
  std::string place;
  State state;
  std::string said;
  int code = 0;
};

Found install(const Hook& hook, const fs::path& place, bool dry_run) {
  Found result{&hook, place.string(), state_of(hook, place), "", 0};
  if (result.state == State::kCurrent) {
    result.said = "installed already";
  } else if (result.state == State::kForeign || result.state == State::kUnreadable) {
    result.said = text_of(result.state);
    result.code = static_cast<int>(ExitCode::kRefused);
  } else if (dry_run) {
    result.said = "would be written";
  } else if (std::string wrong = write_hook(hook, place); !wrong.empty()) {
    result.said = std::move(wrong);
    result.code = static_cast<int>(ExitCode::kNotPermitted);
  } else {
    result.state = State::kCurrent;
    result.said = std::string("installed; now ") + hook.afterwards;
  }
  return result;
}

/// Without names a hook that is not there is no fault: few machines need all.
Found look_at(const Hook& hook, const fs::path& place, bool wanted) {
  Found result{&hook, place.string(), state_of(hook, place), "", 0};
  result.said = text_of(result.state);
  const bool fine = result.state == State::kCurrent || (result.state == State::kMissing && !wanted);
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
                    {"installed", each.state == State::kCurrent},
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
  const bool installs = line.arguments.front() == "install";
  const std::vector<std::string> names(line.arguments.begin() + 1, line.arguments.end());
  std::vector<Found> results;
  for (const Hook& hook : hooks()) {
    const bool named = std::find(names.begin(), names.end(), hook.name) != names.end();
    if (!named && (installs || !names.empty())) continue;
    const fs::path place = fs::path(line.root) / hook.place;
    results.push_back(installs ? install(hook, place, line.dry_run) : look_at(hook, place, named));
  }
  return say(line, results);
}

}  // namespace livebtl::tool
