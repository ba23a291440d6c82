// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hook_files.h -- the hooks' files: where each belongs, what is there now, and how ours
// replaces it.
//
// A file already there may be anybody's: only one that names itself one of ours is replaced, as a
// whole, and its old content is kept beside it. In a guest's image the links are the guest's:
// nothing is written through them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace livebtl::tool {

struct Hook {
  const char* name;   // of the file in scripts/hooks
  const char* where;  // "in a guest" or "on a host"
  const char* place;
  const char* text;
  const char* afterwards;
  const char* directory = nullptr;  // whose files a dispatcher at `place` calls
  const char* packaged = nullptr;   // where the distribution's package puts it, if not at `place`
};

const std::vector<Hook>& hooks();
std::vector<std::string> hook_names();

enum class HookState {
  kMissing,
  kCurrent,
  kOther,
  kForeign,
  kNotExecutable,
  kWritable,
  kFolderWritable,
  kUnreadable,
  kLeadsOut
};

const char* text_of(HookState state);

/// Where the hook is, or belongs. Debian's guest agent has a dispatcher at the hook's place.
std::filesystem::path place_of(const Hook& hook, const std::filesystem::path& root);
HookState state_of(const Hook& hook, const std::filesystem::path& root,
                   const std::filesystem::path& place);

/// Where the replaced file is kept: hidden, so that no dispatcher calls it.
std::filesystem::path kept_as(const std::filesystem::path& place);
/// Writes it whole or not at all: its caller may come at any time. before: what is there now; a
/// file that differs from ours may have been edited, and is kept. "": done; else what went wrong.
std::string write_hook(const Hook& hook, const std::filesystem::path& place, HookState before);

/// The Debian package that owns the file and will expect it; "": none.
std::string package_of(const std::filesystem::path& root, const std::filesystem::path& place);
/// before: as in write_hook(). "": done; else what went wrong.
std::string remove_hook(const std::filesystem::path& place, HookState before);

}  // namespace livebtl::tool
