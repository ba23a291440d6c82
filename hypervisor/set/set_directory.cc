// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory.cc -- see set_directory.h.
#include "hypervisor/set/set_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "hypervisor/set/checksum.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kFreshSetFile = "set.json.new";

std::string said_by_system() { return std::strerror(errno); }

}  // namespace

tl::unexpected<Error> SetDirectory::failed(Errc code, const std::string& file,
                                           const std::string& what) const {
  return fail(code, path_ + (file.empty() ? "" : "/" + file) + ": " + what);
}

std::string SetDirectory::absolute(const std::string& file) const {
  if (!place_.empty()) return place_ + "/" + file;
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path_, failed);
  return (failed ? path_ : whole.string()) + "/" + file;
}

std::string SetDirectory::ram_path(const std::string& machine) const {
  return absolute(ram_file(machine));
}

std::vector<std::string> SetDirectory::scratches() const {
  if (*form_.scratch == '\0') return {};
  if (!form_.scratch_each) return {form_.scratch};
  std::vector<std::string> names;
  for (const std::string& machine : machines_) names.push_back(machine + "." + form_.scratch);
  return names;
}

Result<std::string> SetDirectory::make_scratch() {
  if (auto removed = remove_scratch(); !removed) return tl::unexpected(removed.error());
  const std::string name = scratches().front();
  if (::mkdirat(directory_.number(), name.c_str(), 0700) != 0)
    return failed(Errc::kSystem, name, said_by_system());
  return absolute(name);
}

/// Follows no link: removes links themselves, and directories with what is in them.
Status SetDirectory::remove_scratch() {
  if (!directory_) return {};
  for (const std::string& name : scratches()) {
    std::error_code broken;
    std::filesystem::remove_all(absolute(name), broken);
    if (broken) return failed(Errc::kSystem, name, broken.message());
  }
  return {};
}

bool SetDirectory::ours(const std::string& file) const {
  auto names = scratches();
  for (std::string& mark : marks()) names.push_back(std::move(mark));
  return file == kFreshSetFile || std::find(names.begin(), names.end(), file) != names.end() ||
         std::any_of(machines_.begin(), machines_.end(),
                     [&](const std::string& machine) { return ram_file(machine) == file; });
}

Result<SetDirectory::Holds> SetDirectory::look() {
  if (const auto opened = open(); !opened) {
    if (opened.error().code != Errc::kNotFound) return tl::unexpected(opened.error());
    if (const auto above = look_above(); !above) return tl::unexpected(above.error());
    return Holds::kNothing;
  }
  bool leavings = false;
  bool set = false;
  std::error_code broken;
  for (std::filesystem::directory_iterator each(place_, broken), end; !broken && each != end;
       each.increment(broken)) {
    const std::string file = each->path().filename();
    set = set || file == kSetFile;
    leavings = leavings || ours(file);
    if (file != kSetFile && !ours(file))
      return failed(Errc::kRefused, one_line(file),
                    "does not belong to this set; give a directory that is empty, "
                    "or one that is not there");
  }
  if (broken) return failed(Errc::kSystem, "", broken.message());
  if (const auto free = look_for_kept(); !set && !free) return tl::unexpected(free.error());
  if (!set) return leavings ? Holds::kLeavings : Holds::kNothing;
  const auto loaded = load();
  if (loaded) return Holds::kSet;
  if (loaded.error().code == Errc::kAuth) return tl::unexpected(loaded.error());
  return tl::unexpected(Error{Errc::kRefused, loaded.error().text + "; give another directory"});
}

Status SetDirectory::prepare() {
  if (auto settled = check_above(); !settled) return settled;
  if (::mkdir(path_.c_str(), 0700) == 0) {
    made_ = true;
  } else if (errno != EEXIST) {
    return not_made();
  }
  if (auto opened = open(); !opened) return opened;
  const bool made = std::exchange(made_, false);
  auto emptied = discard();
  made_ = made;
  return emptied;
}

Status SetDirectory::discard() {
  if (!directory_) return {};
  if (auto removed = remove_scratch(); !removed) return removed;
  std::vector<std::string> files = marks();  // first: what a kill then leaves is mere leavings
  files.emplace_back(kFreshSetFile);
  for (const std::string& machine : machines_) files.push_back(ram_file(machine));
  for (const std::string& file : files) {
    if (::unlinkat(directory_.number(), file.c_str(), 0) != 0 && errno != ENOENT)
      return failed(Errc::kSystem, file, said_by_system());
  }
  if (std::exchange(made_, false)) ::rmdir(place_.c_str());
  return {};
}

Result<Fd> SetDirectory::create(const std::string& machine) {
  const std::string file = ram_file(machine);
  Fd made(::openat(directory_.number(), file.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made) return failed(Errc::kRefused, file, said_by_system());
  return made;
}

/// The checksum is of what QEMU wrote; as much of that as fits is still in memory.
Status SetDirectory::sync_ram(SavedMachine& machine) {
  const std::string file = ram_file(machine.name);
  const Fd opened(::openat(directory_.number(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!opened || ::fsync(opened.number()) != 0 || ::fstat(opened.number(), &facts) != 0)
    return failed(Errc::kSystem, file, said_by_system());
  if (!S_ISREG(facts.st_mode) || facts.st_size <= 0)
    return failed(Errc::kRefused, file, "nothing was written to it");
  machine.bytes = static_cast<std::uint64_t>(facts.st_size);
  const auto checksum = checksum_of(opened, nullptr);
  if (!checksum) return failed(checksum.error().code, file, checksum.error().text);
  machine.crc32c = *checksum;
  return {};
}

Status SetDirectory::write_list(const std::string& text) {
  const Fd file(::openat(directory_.number(), kFreshSetFile,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return failed(Errc::kSystem, kFreshSetFile, said_by_system());
  for (std::size_t done = 0; done < text.size();) {
    const auto written = ::write(file.number(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed(Errc::kSystem, kFreshSetFile, said_by_system());
    done += static_cast<std::size_t>(written);
  }
  if (::fsync(file.number()) != 0) return failed(Errc::kSystem, kFreshSetFile, said_by_system());
  return {};
}

Status SetDirectory::seal(SetFile set) {
  for (SavedMachine& machine : set.machines) {
    if (auto synced = sync_ram(machine); !synced) return synced;
  }
  return seal_as_told(set);
}

Status SetDirectory::seal_as_told(const SetFile& set) {
  if (auto written = write_list(set_text(set)); !written) return written;
  if (::fsync(directory_.number()) != 0 ||
      ::renameat(directory_.number(), kFreshSetFile, directory_.number(), kSetFile) != 0 ||
      ::fsync(directory_.number()) != 0)
    return failed(Errc::kSystem, kSetFile, said_by_system());
  return {};
}

Status SetDirectory::unseal() {
  if (auto opened = open(); !opened) return opened;
  if (::unlinkat(directory_.number(), kSetFile, 0) != 0 && errno != ENOENT)
    return failed(Errc::kSystem, kSetFile, said_by_system());
  if (::fsync(directory_.number()) != 0) return failed(Errc::kSystem, "", said_by_system());
  return {};
}

/// set.json goes first, so that what a kill leaves half-removed is no set.
Status SetDirectory::remove() {
  if (auto unsealed = unseal(); !unsealed) return unsealed;
  made_ = false;
  if (auto emptied = discard(); !emptied) return emptied;
  if (::rmdir(place_.c_str()) == 0) return {};
  if (errno == ENOTEMPTY || errno == EEXIST)
    return failed(Errc::kRefused, "", "holds something that is of no set; it was left there");
  return failed(Errc::kSystem, "", said_by_system());
}

}  // namespace livebtl::hypervisor
