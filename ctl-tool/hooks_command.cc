// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hooks_command.cc -- hooks install | check: the scripts by which guest agents,
// hypervisors and checkpointers call btlctl (docs/HOOKS.md), put where these look for them.
//
// What stands there already may be anybody's: only a file that names itself one of ours is
// replaced, as a whole. In an image of a guest the links are the guest's: nothing is written
// through them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/fd.h"
#include "control/directory.h"
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
  const char* directory = nullptr;  // whose files a dispatcher at `place` calls
};

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all = {
      {"qemu-ga", "etc/qemu/fsfreeze-hook", kHookQemuGa,
       "start qemu-ga with -F (or --fsfreeze-hook), if it is not", "etc/qemu/fsfreeze-hook.d"},
      {"libvirt", "etc/libvirt/hooks/qemu.d/livebtl", kHookLibvirt,
       "restart libvirt's daemon: it looks for hooks when it starts; then /etc/livebtl/guests"},
      {"criu", "usr/local/libexec/livebtl/criu", kHookCriu,
       "give it to criu by --action-script, at dump and at restore"},
      {"virsh", "usr/local/bin/livebtl-virsh", kHookVirsh, "call it in place of virsh"}};
  return all;
}

enum class State {
  kMissing,
  kCurrent,
  kOther,
  kForeign,
  kNotExecutable,
  kWritable,
  kUnreadable,
  kLeadsOut
};

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
    case State::kLeadsOut:
      return "a symbolic link leads out of --root";
  }
  return "?";
}

/// Ours say so in a line that no other file has.
bool names_itself_ours(const Hook& hook, const std::string& text) {
  return text.find(std::string("# scripts/hooks/") + hook.name + " -- ") != std::string::npos;
}

/// Does a link lead from the folder of `place` to what is not below the root? What cannot be looked
/// at does not.
bool leads_out(const fs::path& root, const fs::path& place) {
  std::error_code error;
  fs::path top = fs::weakly_canonical(root, error);
  if (!top.has_filename()) top = top.parent_path();
  const fs::path folder = fs::weakly_canonical(place.parent_path(), error);
  return !error &&
         std::mismatch(top.begin(), top.end(), folder.begin(), folder.end()).first != top.end();
}

/// May somebody else than root and ourselves write to it?
bool writable_by_others(const fs::path& place) {
  struct stat facts {};
  if (::stat(place.c_str(), &facts) != 0) return true;
  return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
         (facts.st_uid != 0 && facts.st_uid != ::geteuid());
}

std::string content_of(const fs::path& place) {
  if (std::error_code error; !fs::is_regular_file(place, error)) return "";
  std::ifstream file(place, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Does a script call what is in that directory? (A comment calls nothing.)
bool dispatches(const std::string& script, const fs::path& directory) {
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    const bool comment = line.find_first_not_of(" \t") == line.find('#');
    if (!comment && line.find(directory.filename().string()) != std::string::npos) return true;
  }
  return false;
}

/// Where it is, or is to be. Debian's guest agent has a dispatcher at the hook's place.
fs::path place_of(const Hook& hook, const fs::path& root) {
  fs::path place = root / hook.place;
  if (hook.directory == nullptr || leads_out(root, place)) return place;
  const std::string there = content_of(place);
  const bool dispatched = !names_itself_ours(hook, there) && dispatches(there, hook.directory);
  return dispatched ? root / hook.directory / "livebtl" : place;
}

State state_of(const Hook& hook, const fs::path& root, const fs::path& place) {
  if (leads_out(root, place)) return State::kLeadsOut;
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  // A link to nothing is somebody's too.
  if (status.type() == fs::file_type::not_found)
    return fs::is_symlink(fs::symlink_status(place, error)) ? State::kForeign : State::kMissing;
  const bool regular = status.type() == fs::file_type::regular;
  if (error || !regular || !std::ifstream(place)) return State::kUnreadable;
  const std::string text = content_of(place);
  if (!names_itself_ours(hook, text)) return State::kForeign;
  if (text != hook.text) return State::kOther;
  if (writable_by_others(place)) return State::kWritable;
  const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return runs ? State::kCurrent : State::kNotExecutable;
}

/// A new file, whole and on the disk, in place of what a call left that was killed.
bool write_fresh(const std::string& path, const char* text) {
  ::unlink(path.c_str());
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file && control::write_descriptor(file.number(), text) &&
         ::fchmod(file.number(), 0755) == 0 && ::fsync(file.number()) == 0;
}

/// Whole or not at all: the caller may come at any time. "": done, or what went wrong.
std::string write_hook(const Hook& hook, const fs::path& place) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  // Hidden, so that no dispatcher calls what a call has left that was killed.
  const std::string fresh = place.parent_path() / (".livebtl-new." + place.filename().string());
  if (!write_fresh(fresh, hook.text)) {
    ::unlink(fresh.c_str());
    return "cannot write " + fresh + "; are you root?";
  }
  fs::rename(fresh, place, error);
  if (!error) return "";
  ::unlink(fresh.c_str());
  return "cannot make " + place.string() + ": " + error.message();
}

struct Found {
  const Hook* hook;
  std::string place;
  State state;
  std::string said = {};
  int code = 0;
};

Found install(const Hook& hook, const fs::path& root, bool dry_run) {
  const fs::path place = place_of(hook, root);
  Found result{&hook, place.string(), state_of(hook, root, place)};
  if (result.state == State::kCurrent) {
    result.said = "installed already";
  } else if (result.state == State::kForeign || result.state == State::kUnreadable ||
             result.state == State::kLeadsOut) {
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
    results.push_back(installs ? install(hook, line.root, line.dry_run)
                               : look_at(hook, line.root, named));
  }
  return say(line, results);
}

}  // namespace livebtl::tool
