// SPDX-License-Identifier: BSD-3-Clause
// control/place/member_file.h -- a member's file in the job's directory: "I am here", as long as it
// is locked.
//
// <process id>.lock: one page of JSON and its CRC32C; its owner holds an open-file-description lock
// on it, which the kernel frees on any death unless a clone of the owner lives on: so the card also
// names its process (base/process_mark.h). When the owner leaves or is found dead, the file becomes
// <process id>.gone: proof for its peers, and for those who count the ranks that the launcher
// announced.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "control/ladder/ladder_types.h"
#include "control/place/job.h"

namespace livebtl::control {

/// What the file says.
struct MemberCard : Described {
  ProcessMark mark;     // of the process
  RunId run = kNoRun;   // that it belongs to; another run's card is ignored
  bool joined = false;  // it knows where the job stands, so that others may ask it
  std::string relay;    // tcp endpoint at which it relays for its node; empty: it does not
  bool one_node =
      false;  // it knows of no member on another node, so it need not be asked for relays
  bool left_behind = false;  // a copy: the restored job goes on elsewhere
};

Described describe(const JobFacts& job, MemberId self);
/// For this process.
MemberCard card_of(const JobFacts& job, MemberId self);

std::string format_card(const MemberCard& card);
/// Errors: kInvalid, kCorrupt (also while it is being rewritten: read again).
Result<MemberCard> parse_card(std::string_view text);

std::string card_path(const std::string& directory, ProcessId process);
std::string gone_path(const std::string& directory, ProcessId process);
std::string socket_path(const std::string& directory, ProcessId process);

/// The process that a file name begins with: sixteen hexadecimal digits, then `suffix` and nothing
/// else.
std::optional<ProcessId> parse_process_name(std::string_view name, std::string_view suffix);

/// Our own file. Owned by the agent's thread; a forked child loses it at once and so does not keep
/// it locked.
class MemberFile {
 public:
  /// Locked before it has its name: a file found unlocked has a dead owner. Errors: kSystem.
  static Result<MemberFile> publish(const std::string& directory, const MemberCard& card);
  MemberFile(MemberFile&&) noexcept;
  MemberFile& operator=(MemberFile&&) = delete;
  ~MemberFile();

  /// Errors: kSystem.
  Status update(const MemberCard& card);
  /// Orderly goodbye: leaves the proof, and gives up the lock.
  void leave() noexcept;

 private:
  MemberFile(std::string directory, MemberCard card, Fd fd);
  std::string directory_;
  MemberCard card_;
  Fd fd_;
};

/// Does anybody hold the lock of this open card? Errors: kSystem.
Result<bool> lock_held(int fd);
/// Is the owner of this open card alive: its lock held, and no proof that its process has ended?
/// own_space: own_mark().space. Errors: kSystem.
Result<bool> owner_lives(int fd, const MemberCard& card, std::uint64_t own_space);
/// Takes the lock if nobody has it.
bool take_lock(int fd) noexcept;
/// Turns a dead or leaving member's files into the proof that it is gone. Requires: its lock is
/// ours, or its process has ended.
void retire(const std::string& directory, const MemberCard& card) noexcept;

}  // namespace livebtl::control
