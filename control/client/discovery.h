// SPDX-License-Identifier: BSD-3-Clause
// control/client/discovery.h -- which jobs run on this node, and which members have they?
//
// Threads: any; nothing is kept here but in a KnownCards of the caller. A member is there as long as its file is locked
// and its process not proved dead. The process that finds a dead member's file turns it into a proof, in directories
// of the same user. Only cards of the run that is on count.
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
  bool complete = true;          // every file there was could be read
};

struct JobPlace {
  std::string id;
  std::string directory;
  uid_t owner = 0;
  MemberScan members;
};

/// For who looks again and again: a card whose file says what it said before is not parsed anew.
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

/// `owner`: of the directory, as its files must be. Sorted by rank, then by process. Of another user's no more
/// than kFilesOfOthers files are looked at, so that nobody can make root wait. known: null for a single look.
MemberScan scan_members(const std::string& directory, uid_t owner, KnownCards* known = nullptr);
inline constexpr std::size_t kFilesOfOthers = 4096;

/// Is there proof in that directory that this process has ended? Its file, whose lock nobody holds, or
/// what becomes of the file then.
bool proved_gone(const std::string& directory, uid_t owner, ProcessId process);

/// A member as it is described to others.
MemberEntry entry_of(const MemberCard& card, bool gone);

/// Jobs with live members, sorted by id. Removes abandoned directories of our own. Of another user's files no
/// more than kFilesOfOthers are looked at in all.
std::vector<JobPlace> find_jobs(std::span<const RunDirectory> rundirs);

}  // namespace livebtl::control
