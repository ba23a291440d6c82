// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/pages.h -- the pages of a job's processes, for the commands that show what they say.
// This node's are read without waking anybody; members on other nodes are asked for theirs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/ladder/membership.h"
#include "control/place/page_view.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {

struct Pages {
  std::string job;
  std::string user;                      // the owner, for metrics; "": not looked up
  std::vector<control::PageView> pages;  // by rank
  struct Unread {
    std::string name;
    Error why;
    int rank = -1;                // as its card has it; -1: not known
    std::uint32_t announced = 0;  // likewise
  };
  std::vector<Unread> unread;        // the process is there, but its page cannot be read
  std::vector<std::string> stopped;  // "rank 3": by SIGSTOP or a debugger; this node's only
  control::Missing missing;          // announced by the launcher, and not found
};

/// All pages that can be read on this node.
Pages pages_here(const control::JobPlace& job);

class PageLook {
 public:
  /// The job that the command line means.
  static tl::expected<PageLook, NoJob> open(const CommandLine& line, const std::atomic<bool>& stop);

  /// Looks again. Blocks for at most --timeout, and only if there are other nodes.
  Pages look();

 private:
  PageLook(const CommandLine& line, const std::atomic<bool>& stop) : line_(line), stop_(stop) {}
  void add_remote(Pages& pages);

  const CommandLine& line_;
  const std::atomic<bool>& stop_;
  std::optional<control::JobPlace> here_;   // absent: by --connect
  std::optional<control::JobLinks> links_;  // absent: all of the job is here
};

/// Prints whose pages could not be read; returns the exit code that follows.
ExitCode note_unread(const Pages& pages, const std::atomic<bool>& stop);
Json unread_json(const Pages& pages);

/// "rank 3", or the name of a process without one.
std::string short_name(const control::Described& member);
/// The peer of that pair, by the shortest name known.
std::string short_name(const control::PairView& pair, const Pages& pages);

/// "2026-11-26 13:20:01.250", in this machine's time zone.
std::string time_text(std::uint64_t unix_ms);

}  // namespace livebtl::tool
