// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hook_files.cc -- see hook_files.h.
#include "ctl-tool/hook_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "base/fd.h"
#include "base/text_file.h"
#include "control/place/directory.h"
#include "ctl-tool/embedded_text.h"

namespace livebtl::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHookBytesMax = std::size_t{1} << 20;

/// Ours say so in a line that no other file has.
bool names_itself_ours(const Hook& hook, const std::string& text) {
  return text.find(std::string("# scripts/hooks/") + hook.name + " -- ") != std::string::npos;
}

/// Do links take the folder of `place` out of the root? False if the path cannot be examined.
bool leads_out(const fs::path& root, const fs::path& place) {
  std::error_code error;
  fs::path top = fs::weakly_canonical(root, error);
  if (!top.has_filename()) top = top.parent_path();
  const fs::path folder = fs::weakly_canonical(place.parent_path(), error);
  return !error &&
         std::mismatch(top.begin(), top.end(), folder.begin(), folder.end()).first != top.end();
}

/// May anybody but root and ourselves write to it?
bool writable_by_others(const fs::path& place) {
  struct stat facts {};
  if (::stat(place.c_str(), &facts) != 0) return true;
  return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
         (facts.st_uid != 0 && facts.st_uid != ::geteuid());
}

std::string content_of(const fs::path& place) {
  if (std::error_code error; !fs::is_regular_file(place, error)) return "";
  return read_text(place, kHookBytesMax).value_or("");
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

std::error_code errno_code() { return {errno, std::generic_category()}; }

/// Writes a new file, synced to disk, in place of one that an earlier call left.
bool write_fresh(const std::string& path, const std::string& text, mode_t mode) {
  ::unlink(path.c_str());
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file && control::write_descriptor(file.number(), text) &&
         ::fchmod(file.number(), mode) == 0 && ::fsync(file.number()) == 0;
}

/// Hidden, so that no dispatcher calls it.
fs::path beside(const fs::path& place, const char* what) {
  return place.parent_path() / (".livebtl-" + std::string(what) + "." + place.filename().string());
}

std::string cannot(const fs::path& place, const std::error_code& error,
                   const char* what = "write") {
  const bool forbidden = error == std::errc::permission_denied;
  return std::string("cannot ") + what + " " + place.string() + ": " + error.message() +
         (forbidden ? "; are you root?" : "");
}

}  // namespace

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all = {
      {"qemu-ga", "in a guest", "etc/qemu/fsfreeze-hook", embedded_text("qemu-ga"),
       "start qemu-ga with -F (or --fsfreeze-hook), if it is not", "etc/qemu/fsfreeze-hook.d"},
      {"libvirt", "on a host", "etc/libvirt/hooks/qemu.d/livebtl", embedded_text("libvirt"),
       "restart libvirt's daemon: it looks for hooks when it starts; then /etc/livebtl/guests"},
      {"criu", "on a host", "usr/local/libexec/livebtl/criu", embedded_text("criu"),
       "give it to criu by --action-script, at dump and at restore", nullptr,
       "usr/libexec/livebtl/criu"},
      {"virsh", "on a host", "usr/local/bin/livebtl-virsh", embedded_text("virsh"),
       "call it in place of virsh", nullptr, "usr/bin/livebtl-virsh"}};
  return all;
}

std::vector<std::string> hook_names() {
  std::vector<std::string> names;
  for (const Hook& hook : hooks()) names.emplace_back(hook.name);
  return names;
}

const char* text_of(HookState state) {
  static constexpr std::pair<HookState, const char*> kTexts[] = {
      {HookState::kMissing, "not installed"},
      {HookState::kCurrent, "installed"},
      {HookState::kOther, "of another version of livebtl, or edited; install it again"},
      {HookState::kForeign, "none of livebtl's: move it away, or have it call ours"},
      {HookState::kNotExecutable, "not executable; install it again"},
      {HookState::kWritable, "others than its owner may write to it; install it again"},
      {HookState::kFolderWritable,
       "others may write to the directory that it is in, and so put theirs in its place; see to "
       "that"},
      {HookState::kUnreadable, "cannot be read"},
      {HookState::kLeadsOut, "a symbolic link leads out of --root"}};
  return std::find_if(std::begin(kTexts), std::end(kTexts),
                      [state](const auto& each) { return each.first == state; })
      ->second;
}

fs::path place_of(const Hook& hook, const fs::path& root) {
  fs::path place = root / hook.place;
  if (std::error_code error; hook.packaged != nullptr && fs::exists(root / hook.packaged, error))
    return root / hook.packaged;
  if (hook.directory == nullptr || leads_out(root, place)) return place;
  const std::string there = content_of(place);
  const bool dispatched = !names_itself_ours(hook, there) && dispatches(there, hook.directory);
  return dispatched ? root / hook.directory / "livebtl" : place;
}

HookState state_of(const Hook& hook, const fs::path& root, const fs::path& place) {
  if (leads_out(root, place)) return HookState::kLeadsOut;
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  // Even a dangling link is somebody's.
  if (status.type() == fs::file_type::not_found)
    return fs::is_symlink(fs::symlink_status(place, error)) ? HookState::kForeign
                                                            : HookState::kMissing;
  const bool regular = status.type() == fs::file_type::regular;
  if (error || !regular || ::access(place.c_str(), R_OK) != 0) return HookState::kUnreadable;
  const std::string text = content_of(place);
  if (!names_itself_ours(hook, text)) return HookState::kForeign;
  if (text != hook.text) return HookState::kOther;
  if (writable_by_others(place)) return HookState::kWritable;
  if (writable_by_others(place.parent_path())) return HookState::kFolderWritable;
  const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return runs ? HookState::kCurrent : HookState::kNotExecutable;
}

fs::path kept_as(const fs::path& place) { return beside(place, "old"); }

std::string package_of(const fs::path& root, const fs::path& place) {
  constexpr const char* kPackage = "livebtl-hooks";
  const std::string list =
      content_of(root / "var/lib/dpkg/info" / (std::string(kPackage) + ".list"));
  const std::string line = "/" + fs::relative(place, root).string() + "\n";
  return ("\n" + list).find("\n" + line) != std::string::npos ? kPackage : "";
}

std::string remove_hook(const fs::path& place, HookState before) {
  if (before == HookState::kOther) {
    const fs::path old = kept_as(place);
    if (!write_fresh(old, content_of(place), 0600)) return cannot(old, errno_code());
  }
  return ::unlink(place.c_str()) == 0 ? "" : cannot(place, errno_code(), "remove");
}

std::string write_hook(const Hook& hook, const fs::path& place, HookState before) {
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (error) return cannot(place.parent_path(), error);
  if (before == HookState::kOther) {
    const fs::path old = kept_as(place);
    if (!write_fresh(old, content_of(place), 0600)) return cannot(old, errno_code());
  }
  const fs::path fresh = beside(place, "new");
  if (!write_fresh(fresh, hook.text, 0755)) {
    error = errno_code();
    ::unlink(fresh.c_str());
    return cannot(fresh, error);
  }
  fs::rename(fresh, place, error);
  if (!error) return "";
  ::unlink(fresh.c_str());
  return cannot(place, error);
}

}  // namespace livebtl::tool
