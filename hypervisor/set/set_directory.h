// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory.h -- the directory of a set of snapshots: one file a machine, and
// set.json, without which it is no set. Used by btlctl's one thread; owns the directory's
// descriptor, through which everything is opened: no link is followed.
#pragma once

#include <sys/stat.h>

#include <atomic>

#include "base/fd.h"
#include "hypervisor/set/set_file.h"

namespace livebtl::hypervisor {

/// What a set's files are called.
struct SetForm {
  const char* suffix;   // a machine's, or a node's: NAME and this
  const char* scratch;  // a directory that is there while the set is made or restored; "": none
  bool scratch_each = false;  // each machine has one of its own, NAME.SCRATCH
  /// NAME and this: an empty file that says that NAME's file is in use, though set.json is elsewhere; "": none does.
  const char* kept = "";
};
inline constexpr SetForm kMachineSet{".ram", ""};

class SetDirectory {
 public:
  enum class Holds {
    kNothing,   // or the directory is not there
    kLeavings,  // of a call that was killed: files of these machines, and no set.json
    kSet,       // a whole one, of these machines
  };

  SetDirectory(std::string path, std::vector<std::string> machines,
               const SetForm& form = kMachineSet)
      : path_(std::move(path)), machines_(std::move(machines)), form_(form) {}

  /// Errors: kRefused: it holds something else, or what another node's set is made of; kNotFound, kAuth: it is not there,
  /// and cannot be made; kAuth: as of open().
  Result<Holds> look();
  /// Makes it if it is not there, and deletes what a killed call has left. Errors: as of look().
  Status prepare();
  /// Empties it, and removes it if it was made here.
  Status discard();
  /// Makes a file for a machine's memory.
  Result<Fd> create(const std::string& machine);
  /// Writes set.json, whole, once all else is on the disk. Fills in the files' sizes and checksums.
  Status seal(SetFile set);
  /// ... of files that others have written, and have told sizes and checksums of.
  Status seal_as_told(const SetFile& set);
  /// Fills in the size and checksum of this machine's file, once that is on the disk.
  Status sync_ram(SavedMachine& machine);
  /// From now on this machine's file is no leavings: a set may have been made of it, whose set.json is on another node.
  Status keep(const std::string& machine);
  /// Errors: kRefused: keep() was called for one of these machines, and discard() was not.
  Status look_for_kept() const;
  /// Takes set.json away: what is left is no set any more.
  Status unseal();
  /// Unseals it, deletes what is of a set, and removes the directory. Errors: kRefused: it holds
  /// something else, which is left.
  Status remove();

  /// A set that was sealed, and whose files have the sizes it names. Errors: kCorrupt: it is none;
  /// kAuth: others may write to it.
  Result<SetFile> load();
  Result<Fd> open_ram(const SavedMachine& machine);
  /// Reads a file from the disk, whole, and compares it with its checksum. Errors: kCorrupt: it is
  /// damaged; kCancelled: the user interrupts.
  Status verify(const SavedMachine& machine, const std::atomic<bool>* stop);
  /// Opens it, whatever is in it. Errors: kNotFound; kAuth: others may write to it, or to a directory above it, so that they
  /// could put another one in its place.
  Status open();
  /// What set.json says, of whatever machines. Errors: as of load().
  Result<SetFile> read_sealed();

  const std::string& path() const noexcept { return path_; }
  /// Of a machine's file; absolute.
  std::string ram_path(const std::string& machine) const;
  /// Makes the scratch directory (0700; of the first machine, if each has one), empty. Returns its path, absolute.
  /// Errors: kSystem.
  Result<std::string> make_scratch();
  Status remove_scratch();

 private:
  static bool others_may_write(const struct stat& facts);
  tl::unexpected<Error> exchangeable(const std::string& why) const;
  Status check_above() const;
  Status look_above() const;
  Status not_made() const;
  Result<Fd> open_sealed(const std::string& file, struct stat& facts) const;
  Result<std::string> read_list() const;
  Status write_list(const std::string& text);
  bool ours(const std::string& file) const;
  std::string ram_file(const std::string& machine) const { return machine + form_.suffix; }
  std::vector<std::string> scratches() const;
  std::vector<std::string> marks() const;
  std::string absolute(const std::string& file) const;
  tl::unexpected<Error> failed(Errc code, const std::string& file, const std::string& what) const;

  std::string path_;
  std::string place_ = {};  // of the directory that is open: its path without links
  std::vector<std::string> machines_;
  SetForm form_;
  Fd directory_;
  bool made_ = false;
};

}  // namespace livebtl::hypervisor
