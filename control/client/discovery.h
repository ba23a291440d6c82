// SPDX-License-Identifier: BSD-3-Clause
// control/client/discovery.h -- which jobs run on this node, and which members they have.
//
// Threads: any; the only state is the caller's KnownCards. A member is present as long as its file
// is locked and its process not proved dead. A process that finds a dead member's file turns it
// into a proof, in directories of the same user. Only cards of the current run count.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "control/place/member_file.h"
#include "control/place/rundir.h"
#include "control/wire/messages.h"

namespace livebtl::control {

struct MemberScan {
  std::vector<MemberCard> live;
  std::vector<MemberCard> gone;  // left or dead, of those that the launcher announced
  bool complete = true;          // every file could be read
};

struct JobPlace {
  std::string id;
  std::string directory;
  uid_t owner = 0;
  MemberScan members;
};

/// For repeated looks: a card whose file has not changed is not parsed again.
class KnownCards {
 public:
  /// Parses `text` unless it is what this process's file said last. Errors: as parse_card().
  Result<MemberCard> card_of(ProcessId process, std::string&& text);

 private:
  struct Known {
    std::string text;
    MemberCard card;
  };
  std::map<ProcessId, Known> known_;  // at most kFilesOfOthers
};

/// `owner`: of the directory, and required of its files. Sorted by rank, then by process. In
/// another user's directory, at most kFilesOfOthers files are looked at, so that nobody can make
/// root wait. known: null for a single look.
MemberScan scan_members(const std::string& directory, uid_t owner, KnownCards* known = nullptr);
inline constexpr std::size_t kFilesOfOthers = 4096;

/// Is there proof in that directory that this process has ended: its file without a living owner,
/// or what such a file becomes?
bool proved_gone(const std::string& directory, uid_t owner, ProcessId process);

/// A member as it is described to others.
MemberEntry entry_of(const MemberCard& card, bool gone);

/// Jobs with live members, sorted by id. Removes abandoned directories of our own. Of another
/// user's files, at most kFilesOfOthers are looked at in all.
std::vector<JobPlace> find_jobs(std::span<const RunDirectory> rundirs);

}  // namespace livebtl::control
