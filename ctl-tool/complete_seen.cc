// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/complete_seen.cc -- the half of complete.h that looks at this node, and prints. Other
// users' cards and pages, and their contents, are hostile: only plain single words are offered to a
// shell.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "base/hex.h"
#include "base/log.h"
#include "base/transport_name.h"
#include "control/client/relay_address.h"
#include "control/place/page_reader.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/complete.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kPagesRead =
    4;  // per job: all have the same transports and nearly the same pairs
constexpr std::size_t kWordBytesMax = 64;  // longer names are not offered
constexpr unsigned kSecondsMax = 5;        // then an unresponsive file system is given up

/// No space, control character or shell metacharacter, except those in names of transports.
bool is_one_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_.:;,+@[]").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kWordBytesMax && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), plain);
}

void add_once(std::vector<Candidate>& all, std::string word, std::string meaning) {
  const bool known = std::any_of(all.begin(), all.end(),
                                 [&word](const Candidate& each) { return each.word == word; });
  if (!known && is_one_word(word)) all.push_back({std::move(word), std::move(meaning)});
}

std::string state_of_transport(const core::TransportStatus& transport) {
  if (transport.excluded) return "removed";
  if (transport.quiesced) return "quiesced";
  if (!transport.absent.empty()) return "absent";
  return transport.open ? "open, " + counted(transport.peers, "pair", "pairs") + " here" : "closed";
}

/// "rank 3 on node17"
std::string node_in(const std::string& label) {
  const std::size_t on = label.rfind(" on ");
  return on == std::string::npos ? "" : label.substr(on + 4);
}

void add_page(Seen& seen, const control::PageView& page) {
  for (const auto& transport : page.transports)
    add_once(seen.transports, transport.name, state_of_transport(transport));
  for (const auto& pair : page.pairs) add_once(seen.nodes, node_in(pair.name), "another node");
  if (page.hold.id != 0) add_once(seen.holds, hex_id(page.hold.id), "hold");
}

void add_job(Seen& seen, const control::JobPlace& job) {
  const auto& live = job.members.live;
  add_once(seen.jobs, job.id, counted(live.size(), "process", "processes") + " here");
  for (const auto& card : live) {
    add_once(seen.nodes, card.host, "this node");
    for (const std::string& relay : control::host_ports(card.relay))
      add_once(seen.relays, relay, "relay of job " + job.id);
  }
  for (std::size_t i = 0; i < std::min(live.size(), kPagesRead); ++i) {
    if (const auto page = control::read_page(job.directory, job.owner, live[i].member.process))
      add_page(seen, *page);
  }
}

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A shell waits for us: neither a message nor an unresponsive file system may get in its way.
void be_quiet_and_quick() {
  set_log_level(LogLevel::kError);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, STDERR_FILENO);
  ::signal(SIGALRM, [](int) { ::_exit(0); });
  ::alarm(kSecondsMax);
}

}  // namespace

Seen look_around(const std::string& job, const std::string& user) {
  Seen seen;
  const auto whose = read_user(user.empty() ? from_environment("LIVEBTL_USER") : user);
  if (!whose) return seen;
  const std::string wanted = job.empty() ? from_environment("LIVEBTL_JOB") : job;
  for (const control::JobPlace& each : all_jobs(*whose)) {
    add_once(seen.users, user_name(each.owner), "has a job here");
    if (wanted.empty() || each.id == wanted) add_job(seen, each);
  }
  return seen;
}

std::vector<Candidate> with_families(const std::vector<Candidate>& transports) {
  std::vector<Candidate> all;
  std::map<std::string, std::string> families;  // with their members
  for (const Candidate& each : transports) {
    std::string& members = families[std::string(family_of(each.word))];
    if (!members.empty()) members += ", ";
    members += each.word;
  }
  for (const Candidate& each : transports) families.erase(each.word);  // a transport has that name
  for (const Candidate& each : transports) {
    const auto family = families.extract(std::string(family_of(each.word)));
    if (!family.empty() && family.mapped() != each.word)
      all.push_back({family.key(), "all of " + family.mapped()});
    all.push_back(each);
  }
  return all;
}

std::string completion_text(const Completion& completion) {
  std::string text;
  for (const auto& [word, meaning] : completion.candidates)
    text += word + (meaning.empty() ? "" : "\t" + printable(meaning)) + "\n";
  switch (completion.also) {
    case Completion::Also::kFiles:
      return text + ":files\n";
    case Completion::Also::kDirectories:
      return text + ":directories\n";
    case Completion::Also::kCommand:
      return text + ":command\n";
    case Completion::Also::kNothing:
      break;
  }
  return text;
}

ExitCode print_completion(const std::vector<std::string>& words, bool of_run) {
  be_quiet_and_quick();
  const Completion completion = of_run ? complete_run(words) : complete(words, look_around);
  std::fputs(completion_text(completion).c_str(), stdout);
  return ExitCode::kDone;
}

}  // namespace livebtl::tool
