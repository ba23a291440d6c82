// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory_read.cc -- reads a sealed set: see set_directory.h. All of it is
// hostile. Run by btlctl's one thread.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "hypervisor/set/checksum.h"
#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {
namespace {

/// If this process or the machine has run out of something, nothing is known about the file.
Errc code_of_open(int error) {
  switch (error) {
    case ENOENT:
      return Errc::kNotFound;
    case EACCES:
      return Errc::kAuth;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EINTR:
    case ESTALE:
      return Errc::kSystem;
    default:
      return Errc::kCorrupt;
  }
}

}  // namespace

/// A file that another user owns or may write to is trusted no more than such a directory: a
/// machine's memory decides what the machine will do.
Result<Fd> SetDirectory::open_sealed(const std::string& file, struct stat& facts) const {
  Fd opened(
      ::openat(directory_.number(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened || ::fstat(opened.number(), &facts) != 0)
    return failed(code_of_open(errno), file, std::strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return failed(Errc::kCorrupt, file, "is not a file; this set must not be restored");
  if (others_may_write(facts))
    return failed(Errc::kAuth, file,
                  "others may write to it; the files of a set belong to you or to "
                  "root, and only their owner may write to them (0600)");
  return opened;
}

Result<std::string> SetDirectory::read_list() const {
  struct stat facts {};
  const auto opened = open_sealed(kSetFile, facts);
  if (!opened && opened.error().code == Errc::kNotFound)
    return failed(Errc::kCorrupt, "",
                  "there is no set.json: this is no set of snapshots, or one that was never "
                  "finished; it must not be restored");
  if (!opened) return tl::unexpected(opened.error());
  const Fd& file = *opened;
  std::string text;
  std::array<char, 1U << 16> block;
  while (text.size() <= kSetBytesMax) {
    const auto got = ::read(file.number(), block.data(), block.size());
    if (got < 0) return failed(Errc::kCorrupt, kSetFile, std::strerror(errno));
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<SetFile> SetDirectory::read_sealed() {
  if (const auto opened = open(); !opened) return tl::unexpected(opened.error());
  const auto text = read_list();
  if (!text) return tl::unexpected(text.error());
  auto set = read_set(*text);
  if (!set) return failed(Errc::kCorrupt, "", set.error().text);
  return set;
}

Result<SetFile> SetDirectory::load() {
  auto set = read_sealed();
  if (!set) return set;
  for (const SavedMachine& machine : set->machines) {
    if (std::find(machines_.begin(), machines_.end(), machine.name) == machines_.end())
      return failed(Errc::kCorrupt, "",
                    "this set has a machine " + machine.name +
                        ", which no --vm names; a job needs all of its machines");
    if (const auto file = open_ram(machine); !file) return tl::unexpected(file.error());
  }
  for (const std::string& name : machines_) {
    const auto same = [&name](const SavedMachine& each) { return each.name == name; };
    if (std::none_of(set->machines.begin(), set->machines.end(), same))
      return failed(Errc::kCorrupt, "", "this set has no machine " + name);
  }
  return set;
}

Result<Fd> SetDirectory::open_ram(const SavedMachine& machine) {
  const std::string file = ram_file(machine.name);
  struct stat facts {};
  auto opened = open_sealed(file, facts);
  if (!opened && opened.error().code == Errc::kNotFound)
    return failed(Errc::kCorrupt, file, "is not there");
  if (!opened) return opened;
  if (static_cast<std::uint64_t>(facts.st_size) != machine.bytes)
    return failed(Errc::kCorrupt, file,
                  "is not of the size that it was sealed with; this set must not "
                  "be restored");
  return opened;
}

/// First drops what the kernel has cached of the file, which would hide damage on the disk.
Status SetDirectory::verify(const SavedMachine& machine, const std::atomic<bool>* stop) {
  const auto opened = open_ram(machine);
  if (!opened) return tl::unexpected(opened.error());
  ::posix_fadvise(opened->number(), 0, 0, POSIX_FADV_DONTNEED);
  const std::string file = ram_file(machine.name);
  const auto checksum = checksum_of(*opened, stop);
  if (!checksum && checksum.error().code == Errc::kCancelled)
    return failed(Errc::kCancelled, file, checksum.error().text);
  if (!checksum)
    return failed(Errc::kCorrupt, file, checksum.error().text + "; this set must not be restored");
  if (*checksum != machine.crc32c)
    return failed(Errc::kCorrupt, file,
                  "is damaged: its checksum is not the one that it was sealed with; this set must "
                  "not be restored");
  return {};
}

}  // namespace livebtl::hypervisor
