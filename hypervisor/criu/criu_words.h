// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_words.h -- the command lines of CRIU, the script that it calls while all
// processes stand still, and what a dump tells about itself. Pure.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

using Words = std::vector<std::string>;

// In the directory of the images.
inline constexpr const char* kDumpLog = "dump.log";
inline constexpr const char* kRestoreLog = "restore.log";
// By this one, scripts/hooks/criu recognises our dumps.
inline constexpr const char* kScriptFile = "livebtl-script";
inline constexpr const char* kRestoreScriptFile = "livebtl-restore-script";
inline constexpr const char* kScriptLog = "livebtl-script.log";
inline constexpr const char* kReadyPipe = "livebtl-ready.pipe";
inline constexpr const char* kGoPipe = "livebtl-go.pipe";
inline constexpr const char* kFileList = "livebtl-files";
inline constexpr const char* kFileArchive = "livebtl-files.tar";
inline constexpr const char* kArchivedFile = "livebtl-archived";  // see dump_script()
inline constexpr const char* kFactsFile = "livebtl-processes.json";

/// `timeout`: until all processes stand still.
Words dump_words(const std::string& criu, pid_t root, const std::string& images, bool goes_on,
                 TimeNs timeout);
/// `waits`: with restore_script(), so that CRIU waits before the processes run.
Words restore_words(const std::string& criu, const std::string& images, bool waits = false);

/// Whose rights are used to read the job's files and to put them back. Root's are needed for
/// neither, and anybody who can rename things there could lead them anywhere.
struct FileOwner {
  uid_t user = 0;
  gid_t group = 0;
};

/// In seconds of /proc/uptime.
struct ScriptLimits {
  std::int64_t lease_over_s;  // the hold's lease ends: all must stand still before
  std::int64_t time_over_s;   // the command's time ends: all must be archived before
};
/// Called by CRIU when the images are written and the processes stand still: archives the files
/// that would be lost with the node, then all of it into `target`. If it fails, CRIU lets the
/// processes go on; it also fails once a limit is over, as nothing else ends a CRIU that dumps.
/// `waits`: it then says so through kReadyPipe and, while all stand still, waits for kGo
/// (node_words.h) through kGoPipe; on anything else, or if nobody is there to say it, it fails.
/// Without `waits`, it leaves kArchivedFile when it succeeds: from then on CRIU may end the
/// processes.
std::string dump_script(const std::string& images, const std::string& target,
                        const ScriptLimits& limits, const FileOwner& owner, bool waits = false);
/// Called by CRIU when all processes are restored and none has sent anything: waits like that of a
/// dump.
std::string restore_script(const std::string& images);

/// The list says what is unpacked, and is hostile. Errors: kCorrupt: a path is outside the places
/// that a dump takes files from.
Status check_file_list(std::string_view text);
/// Unpacks the archive of files; for a job of root's, only what the list names.
Words unpack_words(const std::string& images, const FileOwner& owner);

/// What a restore has to know before CRIU is called.
struct DumpedProcesses {
  std::vector<pid_t> pids;
  pid_t root = 0;
  std::int64_t monotonic_s = 0;  // the clock when they were dumped
  std::string job;
  uid_t owner = 0;
};
std::string facts_text(const DumpedProcesses& facts);
/// The text is hostile. Errors: kCorrupt.
Result<DumpedProcesses> read_facts(std::string_view text);

/// The last error in a log of CRIU's; "" if there is none.
std::string last_error(std::string_view log);

}  // namespace livebtl::hypervisor
