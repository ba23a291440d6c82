// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/dump_files.cc -- see dump_files.h.
#include "hypervisor/criu/dump_files.h"

#include <ctime>
#include <fstream>

#include "hypervisor/criu/process_tree.h"

namespace livebtl::hypervisor {

Status write_file(const std::string& path, const std::string& text, mode_t mode) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file || ::chmod(path.c_str(), mode) != 0)
    return fail(Errc::kSystem, path + " cannot be written: is the disk full?");
  return {};
}

std::int64_t uptime_s() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec;
}

Status write_dump_files(const std::string& images, const DumpedTree& dumped,
                        const std::string& script) {
  const auto owner = owner_of(dumped.root);
  if (!owner) return fail(Errc::kNotFound, "process " + std::to_string(dumped.root) + " has ended");
  std::string list;
  for (const std::string& file : passing_files(dumped.tree, dumped.job.directory, *owner))
    list += file.substr(1) + "\n";
  const DumpedProcesses facts{dumped.tree, dumped.root, monotonic_now() / kSecond, dumped.job.id,
                              *owner};
  return write_file(images + "/" + kFileList, list, 0600)
      .and_then([&] { return write_file(images + "/" + kFactsFile, facts_text(facts), 0600); })
      .and_then([&] { return write_file(images + "/" + kScriptFile, script, 0700); });
}

}  // namespace livebtl::hypervisor
