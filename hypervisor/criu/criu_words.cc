// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_words.cc -- see criu_words.h.
#include "hypervisor/criu/criu_words.h"

#include <limits>

#include "hypervisor/criu/node_words.h"
#include "hypervisor/criu/process_tree.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kFactsSchema = "livebtl.processes/1";
constexpr std::size_t kPidsMax = 65'536;

/// Quoted for sh, whatever is in it.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char each : text) safe += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return safe + "'";
}

/// Lines by which a script talks to the caller of CRIU. Opening a pipe for both directions first
/// keeps the script from waiting for the other side, which may be gone.
std::string wait_lines(const std::string& images) {
  const std::string go = quoted(images + "/" + kGoPipe);
  return "exec 4<>" + go + " 5<" + go + " 4>&-\necho ready 1<>" +
         quoted(images + "/" + kReadyPipe) + "\nread -r word <&5 && [ \"$word\" = " + kGo +
         " ] && exit 0\necho 'it was given up, or another node did not succeed'\nexit 1\n";
}

/// Lines by which a script fails if it is that late.
std::string limit_line(std::int64_t over_s, const char* what) {
  return "read -r up rest </proc/uptime\n[ \"${up%.*}\" -lt " + std::to_string(over_s) +
         " ] || { echo '" + what + "'; exit 1; }\n";
}

bool is_pid(std::uint64_t number) {
  return number > 1 && number <= static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max());
}

}  // namespace

Words dump_words(const std::string& criu, pid_t root, const std::string& images, bool goes_on,
                 TimeNs timeout) {
  Words words = {criu,
                 "dump",
                 "--tree",
                 std::to_string(root),
                 "--images-dir",
                 images,
                 "--log-file",
                 kDumpLog,
                 "--shell-job",
                 "--tcp-established",
                 "--file-locks",
                 "--network-lock",
                 "nftables",
                 "--timeout",
                 std::to_string(std::max<TimeNs>(1, timeout / kSecond)),
                 "--action-script",
                 images + "/" + kScriptFile};
  if (goes_on) words.emplace_back("--leave-running");
  return words;
}

Words restore_words(const std::string& criu, const std::string& images, bool waits) {
  Words words = {criu,           "restore",           "--images-dir", images,
                 "--log-file",   kRestoreLog,         "--shell-job",  "--tcp-established",
                 "--file-locks", "--restore-detached"};
  if (waits) words.insert(words.end(), {"--action-script", images + "/" + kRestoreScriptFile});
  return words;
}

namespace {

/// What goes before a program's words; nothing for root.
Words with_rights_of(const FileOwner& owner) {
  if (owner.user == 0) return {};
  return {"setpriv", "--reuid=" + std::to_string(owner.user),
          "--regid=" + std::to_string(owner.group), "--clear-groups"};
}

}  // namespace

std::string dump_script(const std::string& images, const std::string& target,
                        const ScriptLimits& limits, const FileOwner& owner, bool waits) {
  const std::string directory = quoted(images);
  const std::string in_time = limit_line(
      limits.time_over_s, "the time was up before all was dumped: --timeout must be longer");
  std::string script = R"(#!/bin/sh
[ "${CRTOOLS_SCRIPT_ACTION:-}" = post-dump ] || exit 0
)";
  script += "exec >" + directory + "/" + kScriptLog + " 2>&1\n";
  script += limit_line(limits.lease_over_s,
                       "the hold was over before all was dumped: --lease must be longer");
  script += in_time;
  // Through env: some shells have a tar of their own, which can do less.
  script += "cd / && /usr/bin/env ";
  for (const std::string& word : with_rights_of(owner)) script += word + " ";
  script += "tar --create --file=- --no-recursion --verbatim-files-from --files-from=- <" +
            directory + "/" + kFileList + " >" + directory + "/" + kFileArchive;
  // Not logs: they are being written to, which tar would report as a failure.
  script += " &&\n  /usr/bin/env tar --create --file=" + quoted(target) +
            " --directory=" + directory + " --exclude='*.log' --exclude='*.pipe' . || exit 1\n";
  script += in_time;
  return script + (waits ? wait_lines(images) : ": >" + directory + "/" + kArchivedFile + "\n");
}

std::string restore_script(const std::string& images) {
  return R"(#!/bin/sh
[ "${CRTOOLS_SCRIPT_ACTION:-}" = post-restore ] || exit 0
)" + wait_lines(images);
}

Status check_file_list(std::string_view text) {
  const auto no = [](std::string_view line, const char* why) {
    return fail(Errc::kCorrupt,
                std::string(kFileList) + " does not fit: '" + one_line(line) + "' " + why);
  };
  if (!text.empty() && text.back() != '\n') return no(text.substr(text.rfind('\n') + 1), "is cut");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const std::string path = "/" + std::string(line) + "/";
    if (passing_place(path).empty()) return no(line, "is not in a place that is restored");
    if (path.find("/../") != std::string::npos || path.find('\0') != std::string::npos)
      return no(line, "leads elsewhere");
  }
  return {};
}

Words unpack_words(const std::string& images, const FileOwner& owner) {
  // The user may not look into the images' directory, so the archive is the input. Through env:
  // some shells have a tar of their own, which can do less.
  Words words = {"sh", "-c", "archive=$1; shift; exec /usr/bin/env \"$@\" <\"$archive\"", "sh",
                 images + "/" + kFileArchive};
  const Words rights = with_rights_of(owner);
  words.insert(words.end(), rights.begin(), rights.end());
  words.insert(words.end(), {"tar", "--extract", "--file=-", "--directory=/",
                             "--preserve-permissions", "--no-overwrite-dir"});
  if (owner.user == 0)
    words.insert(words.end(),
                 {"--same-owner", "--numeric-owner", "--no-recursion", "--verbatim-files-from",
                  "--files-from=" + images + "/" + kFileList});
  return words;
}

std::string facts_text(const DumpedProcesses& facts) {
  const Json document = {{"schema", kFactsSchema},
                         {"job", facts.job},
                         {"root", facts.root},
                         {"pids", facts.pids},
                         {"monotonic_s", facts.monotonic_s},
                         {"owner", facts.owner}};
  return document.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<DumpedProcesses> read_facts(std::string_view text) {
  const auto no = [](const char* why) {
    return fail(Errc::kCorrupt, std::string(kFactsFile) + " does not fit: " + why);
  };
  const Json document = parse_bounded(text);
  if (text_member(document, "schema") != kFactsSchema) return no("its schema");
  DumpedProcesses facts;
  facts.job = one_line(text_member(document, "job"));
  const auto root = number_member(document, "root");
  const auto monotonic = number_member(document, "monotonic_s");
  if (!root || !is_pid(*root)) return no("'root'");
  if (!monotonic || *monotonic > std::uint64_t{1} << 40) return no("'monotonic_s'");
  const auto owner = number_member(document, "owner");
  if (!owner || *owner >= UINT32_MAX) return no("'owner'");
  facts.owner = static_cast<uid_t>(*owner);
  facts.root = static_cast<pid_t>(*root);
  facts.monotonic_s = static_cast<std::int64_t>(*monotonic);
  const Json* pids = member(document, "pids", Json::value_t::array);
  if (pids == nullptr || pids->empty() || pids->size() > kPidsMax) return no("'pids'");
  for (const Json& each : *pids) {
    if (!each.is_number_unsigned() || !is_pid(each.get<std::uint64_t>())) return no("'pids'");
    facts.pids.push_back(static_cast<pid_t>(each.get<std::uint64_t>()));
  }
  return facts;
}

std::string last_error(std::string_view log) {
  std::string last;
  while (!log.empty()) {
    const auto end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    const auto at = line.find("Error (");
    // CRIU's very last error only says that it failed.
    if (at != std::string_view::npos && line.find("FAILED") == std::string_view::npos)
      last = one_line(line.substr(at));
    if (end == std::string_view::npos) break;
    log.remove_prefix(end + 1);
  }
  return last;
}

}  // namespace livebtl::hypervisor
