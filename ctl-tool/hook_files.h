// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hook_files.h -- the hooks' files: where each belongs, what stands there, and ours put in
// its place.
//
// What stands there already may be anybody's: only a file that names itself one of ours is
// replaced, as a whole, and what it was is kept beside it. In an image of a guest the links are the
// guest's: nothing is written through them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace livebtl::tool {

struct Hook {
  const char* name;   // of the file in scripts/hooks
  const char* where;  // it belongs: in a guest, or on a host
  const char* place;
  const char* text;
  const char* afterwards;
  const char* directory = nullptr;  // whose files a dispatcher at `place` calls
  const char* packaged = nullptr;   // where the distribution's package puts it, if not at `place`
};

/// All that there are.
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

/// Where it is, or is to be. Debian's guest agent has a dispatcher at the hook's place.
std::filesystem::path place_of(const Hook& hook, const std::filesystem::path& root);
HookState state_of(const Hook& hook, const std::filesystem::path& root,
                   const std::filesystem::path& place);

/// The file `place` once it is replaced: hidden, so that no dispatcher calls it.
std::filesystem::path kept_as(const std::filesystem::path& place);
/// Whole or not at all: the caller may come at any time. before: what stands there; one that is not
/// as ours are may have been edited, and is kept. "": done, or what went wrong.
std::string write_hook(const Hook& hook, const std::filesystem::path& place, HookState before);

/// The Debian package that the file is of, which will want to find it; "": none.
std::string package_of(const std::filesystem::path& root, const std::filesystem::path& place);
/// before: as in write_hook(). "": done, or what went wrong.
std::string remove_hook(const std::filesystem::path& place, HookState before);

}  // namespace livebtl::tool
