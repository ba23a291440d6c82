// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/dump_files.h -- what is written into the directory of the images before CRIU is
// called. Used by btlctl's one thread; owns nothing.
#pragma once

#include <sys/stat.h>

#include "hypervisor/criu/criu_job.h"
#include "hypervisor/criu/criu_words.h"

namespace livebtl::hypervisor {

struct DumpedTree {
  const JobHere& job;
  pid_t root;
  const std::vector<pid_t>& tree;  // the root, and all below it
};

/// Errors: kSystem, kNotFound: the root has ended.
Status write_dump_files(const std::string& images, const DumpedTree& dumped,
                        const std::string& script);
Status write_file(const std::string& path, const std::string& text, mode_t mode);

/// The clock by which a script checks a hold's lease: that of /proc/uptime.
std::int64_t uptime_s();

}  // namespace livebtl::hypervisor
