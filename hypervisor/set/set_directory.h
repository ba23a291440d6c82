// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_directory.h -- the directory of a set of snapshots: one file per machine, and
// set.json, without which it is no set. Used by btlctl's one thread; owns the directory's
// descriptor, through which everything is opened: no link is followed.
#pragma once

#include <sys/stat.h>

#include <atomic>

#include "base/fd.h"
#include "hypervisor/set/set_file.h"

namespace livebtl::hypervisor {

/// How a set's files are named.
struct SetForm {
  const char* suffix;         // a machine's, or a node's, file is NAME plus this
  const char* scratch;        // a directory that exists while the set is made or restored; "": none
  bool scratch_each = false;  // each machine has its own, NAME.SCRATCH
  /// The empty file NAME plus this says that NAME's file is in use though set.json is elsewhere;
  /// "": none.
  const char* kept = "";
};
inline constexpr SetForm kMachineSet{".ram", ""};

class SetDirectory {
 public:
  enum class Holds {
    kNothing,   // or the directory is not there
    kLeavings,  // of a killed call: files of these machines, and no set.json
    kSet,       // a whole set, of these machines
  };

  SetDirectory(std::string path, std::vector<std::string> machines,
               const SetForm& form = kMachineSet)
      : path_(std::move(path)), machines_(std::move(machines)), form_(form) {}

  /// Errors: kRefused: it holds something else, or files of a set whose set.json is on another
  /// node; kNotFound, kAuth: it is not there and cannot be made; kAuth: as for open().
  Result<Holds> look();
  /// Makes it if it is not there, and deletes what a killed call left. Errors: as for look().
  Status prepare();
  /// Empties it, and removes it if it was made here.
  Status discard();
  /// Makes a file for a machine's memory.
  Result<Fd> create(const std::string& machine);
  /// Writes set.json, whole, once all else is on the disk. Fills in the files' sizes and checksums.
  Status seal(SetFile set);
  /// The same for files that others wrote, with the sizes and checksums that they reported.
  Status seal_as_told(const SetFile& set);
  /// Syncs this machine's file to the disk, and fills in its size and checksum.
  Status sync_ram(SavedMachine& machine);
  /// Marks this machine's file as no leavings: it may belong to a set whose set.json is on another
  /// node.
  Status keep(const std::string& machine);
  /// Errors: kRefused: keep() was called for one of these machines, and discard() was not.
  Status look_for_kept() const;
  /// Deletes set.json: what is left is no longer a set.
  Status unseal();
  /// Unseals it, deletes the set's files, and removes the directory. Errors: kRefused: it holds
  /// something else, which is left there.
  Status remove();

  /// A sealed set whose files have the sizes that it names. Errors: kCorrupt: there is no such set;
  /// kAuth: others may write to it.
  Result<SetFile> load();
  Result<Fd> open_ram(const SavedMachine& machine);
  /// Reads a whole file from the disk and compares its checksum. Errors: kCorrupt: it is damaged;
  /// kCancelled: the user interrupts.
  Status verify(const SavedMachine& machine, const std::atomic<bool>* stop);
  /// Opens it, whatever is in it. Errors: kNotFound; kAuth: others may write to it, or to a
  /// directory above it, and so could replace it.
  Status open();
  /// What set.json says, whichever machines it is of. Errors: as for load().
  Result<SetFile> read_sealed();

  const std::string& path() const noexcept { return path_; }
  /// The absolute path of a machine's file.
  std::string ram_path(const std::string& machine) const;
  /// Makes the scratch directory (0700; the first machine's if each has its own), empty. Returns
  /// its absolute path.
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
  std::string place_ = {};  // the path, without links, of the open directory
  std::vector<std::string> machines_;
  SetForm form_;
  Fd directory_;
  bool made_ = false;
};

}  // namespace livebtl::hypervisor
