// SPDX-License-Identifier: BSD-3-Clause
// control/client/discovery.cc -- see discovery.h.
#include "control/client/discovery.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "base/process_files.h"
#include "control/place/directory.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kCardFileMax = 8192;
constexpr int kReadTries = 20;  // a card is rewritten in microseconds, and rarely

Fd open_card(const std::string& path, uid_t owner) {
  const int access = owner == ::geteuid() ? O_RDWR : O_RDONLY;  // to retire it takes write access
  Fd fd(::open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!fd || ::fstat(fd.number(), &facts) != 0) return Fd();
  if (!S_ISREG(facts.st_mode) || facts.st_uid != owner) return Fd();
  return fd;
}

std::optional<MemberCard> read_card(int fd, ProcessId process) {
  for (int i = 0; i < kReadTries; ++i) {
    if (::lseek(fd, 0, SEEK_SET) != 0) return std::nullopt;
    const auto text = read_descriptor(fd, kCardFileMax);
    if (!text) return std::nullopt;
    auto card = parse_card(*text);
    if (card && card->member.process == process) return std::move(*card);
    if (card || card.error().code != Errc::kCorrupt) return std::nullopt;
  }
  return std::nullopt;
}

void look_at_lock(const std::string& directory, uid_t owner, ProcessId process, MemberScan& scan) {
  const std::string path = card_path(directory, process);
  const Fd fd = open_card(path, owner);
  if (!fd && ::access(path.c_str(), F_OK) != 0) return;  // it has left meanwhile
  auto card = fd ? read_card(fd.number(), process) : std::nullopt;
  const auto held = card ? lock_held(fd.number()) : Result<bool>(false);
  if (!card || !held) {
    scan.complete = false;
  } else if (*held) {
    scan.live.push_back(std::move(*card));
  } else {
    if (owner == ::geteuid() && take_lock(fd.number())) retire(directory, *card);
    if (card->announced > 0) scan.gone.push_back(std::move(*card));
  }
}

void look_at_proof(const std::string& directory, uid_t owner, ProcessId process, MemberScan& scan) {
  const Fd fd = open_card(gone_path(directory, process), owner);
  if (!fd) return;
  auto card = read_card(fd.number(), process);
  if (card && card->announced > 0) scan.gone.push_back(std::move(*card));
}

auto place(const MemberCard& card) noexcept {
  return std::tuple(card.rank < 0, card.rank, card.member);
}

void sort_and_unite(std::vector<MemberCard>& cards) {
  std::sort(cards.begin(), cards.end(),
            [](const MemberCard& a, const MemberCard& b) { return place(a) < place(b); });
  const auto same = [](const MemberCard& a, const MemberCard& b) { return a.member == b.member; };
  cards.erase(std::unique(cards.begin(), cards.end(), same), cards.end());
}

}  // namespace

MemberScan scan_members(const std::string& directory, uid_t owner) {
  MemberScan scan;
  const auto names = read_directory(directory);
  scan.complete = names || names.error().code == Errc::kNotFound;
  if (!names) return scan;
  for (const std::string& name : *names) {
    if (const auto process = parse_process_name(name, kCardFile)) {
      look_at_lock(directory, owner, *process, scan);
    } else if (const auto gone = parse_process_name(name, kGoneFile)) {
      look_at_proof(directory, owner, *gone, scan);
    }
  }
  sort_and_unite(scan.live);
  sort_and_unite(scan.gone);
  return scan;
}

bool proved_gone(const std::string& directory, uid_t owner, ProcessId process) {
  if (open_card(gone_path(directory, process), owner)) return true;
  const Fd fd = open_card(card_path(directory, process), owner);
  const auto held = fd ? lock_held(fd.number()) : Result<bool>(true);
  return held && !*held;
}

MemberEntry entry_of(const MemberCard& card, bool gone) {
  return {card.member, card.name, card.rank, card.node, gone};
}

std::vector<JobPlace> find_jobs(std::span<const RunDirectory> rundirs) {
  std::vector<JobPlace> jobs;
  for (const RunDirectory& rundir : rundirs) {
    for (const std::string& name : list_directory(rundir.path)) {
      const std::string directory = rundir.path + "/" + name;
      if (!valid_job_id(name) || !open_private_directory(directory, rundir.owner)) continue;
      JobPlace job{name, directory, rundir.owner, scan_members(directory, rundir.owner)};
      if (!job.members.live.empty()) {
        jobs.push_back(std::move(job));
      } else if (rundir.owner == ::geteuid()) {
        remove_if_abandoned(directory);
      }
    }
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const JobPlace& a, const JobPlace& b) { return a.id < b.id; });
  return jobs;
}

}  // namespace livebtl::control
