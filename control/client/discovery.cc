// SPDX-License-Identifier: BSD-3-Clause
// control/client/discovery.cc -- see discovery.h.
#include "control/client/discovery.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/process_files.h"
#include "control/place/directory.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kCardFileMax = 8192;
constexpr int kReadTries = 20;  // a card is rewritten in microseconds, and rarely

Fd open_card(const std::string& path, uid_t owner) {
  const int access = owner == ::geteuid() ? O_RDWR : O_RDONLY;  // retiring it takes write access
  Fd fd(::open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!fd || ::fstat(fd.number(), &facts) != 0) return Fd();
  if (!S_ISREG(facts.st_mode) || facts.st_uid != owner) return Fd();
  return fd;
}

std::optional<MemberCard> read_card(int fd, ProcessId process, KnownCards* known = nullptr) {
  for (int i = 0; i < kReadTries; ++i) {
    if (::lseek(fd, 0, SEEK_SET) != 0) return std::nullopt;
    auto text = read_descriptor(fd, kCardFileMax);
    if (!text) return std::nullopt;
    auto card = known != nullptr ? known->card_of(process, std::move(*text)) : parse_card(*text);
    if (card && card->member.process == process) return std::move(*card);
    if (card || card.error().code != Errc::kCorrupt) return std::nullopt;
  }
  return std::nullopt;
}

/// One look into a directory. Cards of any run but the current one are ignored.
class Look {
 public:
  Look(const std::string& directory, uid_t owner, KnownCards* known)
      : directory_(directory), owner_(owner), known_(known), run_(current_run(directory, owner)) {}

  void at_card(ProcessId process) {
    const std::string path = card_path(directory_, process);
    const Fd fd = open_card(path, owner_);
    if (!fd && ::access(path.c_str(), F_OK) != 0) return;  // it has left meanwhile
    auto card = fd ? read_card(fd.number(), process, known_) : std::nullopt;
    const auto lives = card ? owner_lives(fd.number(), *card, own_space_) : Result<bool>(false);
    if (!card || !lives) {
      found_.complete = false;
    } else if (card->run != run_) {
      return;
    } else if (*lives) {
      found_.live.push_back(std::move(*card));
    } else {
      const bool ours = owner_ == ::geteuid();
      if (ours && (take_lock(fd.number()) || has_ended(card->mark))) retire(directory_, *card);
      if (card->announced > 0) found_.gone.push_back(std::move(*card));
    }
  }

  void at_proof(ProcessId process) {
    const Fd fd = open_card(gone_path(directory_, process), owner_);
    auto card = fd ? read_card(fd.number(), process) : std::nullopt;
    if (card && card->run == run_ && card->announced > 0) found_.gone.push_back(std::move(*card));
  }

  MemberScan take() { return std::move(found_); }

 private:
  const std::string& directory_;
  const uid_t owner_;
  KnownCards* const known_;
  const RunId run_;
  const std::uint64_t own_space_ = own_mark().space;
  MemberScan found_;
};

auto place(const MemberCard& card) noexcept {
  return std::tuple(card.rank < 0, card.rank, card.member);
}

void sort_and_unite(std::vector<MemberCard>& cards) {
  std::sort(cards.begin(), cards.end(),
            [](const MemberCard& a, const MemberCard& b) { return place(a) < place(b); });
  const auto same = [](const MemberCard& a, const MemberCard& b) { return a.member == b.member; };
  cards.erase(std::unique(cards.begin(), cards.end(), same), cards.end());
}

/// left: how many more files may be looked at.
MemberScan scan_members(const std::string& directory, uid_t owner, std::size_t& left,
                        KnownCards* known = nullptr) {
  MemberScan scan;
  const auto names = read_directory(directory, left);
  scan.complete = names || names.error().code == Errc::kNotFound;
  if (!names) return scan;
  Look look(directory, owner, known);
  left -= names->size();
  for (const std::string& name : *names) {
    if (const auto process = parse_process_name(name, kCardFile)) {
      look.at_card(*process);
    } else if (const auto gone = parse_process_name(name, kGoneFile)) {
      look.at_proof(*gone);
    }
  }
  scan = look.take();
  scan.complete = scan.complete && left > 0;
  sort_and_unite(scan.live);
  sort_and_unite(scan.gone);
  return scan;
}

/// A process restored on another node leaves its card, or its proof, where it was dumped; and a
/// copy may end where it was left behind.
bool tells_of_another(const MemberCard& card, RunId run) {
  return card.left_behind || (run != kNoRun && card.run != run);
}

std::size_t files_of(uid_t owner) { return owner == ::geteuid() ? SIZE_MAX : kFilesOfOthers; }

}  // namespace

Result<MemberCard> KnownCards::card_of(ProcessId process, std::string&& text) {
  const auto found = known_.find(process);
  if (found != known_.end() && found->second.text == text) return found->second.card;
  auto card = parse_card(text);
  if (card && (found != known_.end() || known_.size() < kFilesOfOthers))
    known_.insert_or_assign(process, Known{std::move(text), *card});
  return card;
}

MemberScan scan_members(const std::string& directory, uid_t owner, KnownCards* known) {
  std::size_t left = files_of(owner);
  return scan_members(directory, owner, left, known);
}

bool proved_gone(const std::string& directory, uid_t owner, ProcessId process) {
  const Fd proof = open_card(gone_path(directory, process), owner);
  const Fd fd = proof ? Fd() : open_card(card_path(directory, process), owner);
  if (!proof && !fd) return false;
  const auto card = read_card(proof ? proof.number() : fd.number(), process);
  if (!proof) {
    const auto lives =
        card ? owner_lives(fd.number(), *card, own_mark().space) : lock_held(fd.number());
    if (!lives || *lives) return false;
  }
  return !card || !tells_of_another(*card, current_run(directory, owner));
}

MemberEntry entry_of(const MemberCard& card, bool gone) {
  return {card.member, card.name, card.rank, card.node, gone, card.left_behind};
}

std::vector<JobPlace> find_jobs(std::span<const RunDirectory> rundirs) {
  std::vector<JobPlace> jobs;
  std::map<uid_t, std::size_t> left;
  for (const RunDirectory& rundir : rundirs) {
    std::size_t& files = left.try_emplace(rundir.owner, files_of(rundir.owner)).first->second;
    const std::vector<std::string> names = list_directory(rundir.path, files);
    files -= names.size();
    for (const std::string& name : names) {
      const std::string directory = rundir.path + "/" + name;
      if (!valid_job_id(name) || !open_private_directory(directory, rundir.owner)) continue;
      JobPlace job{name, directory, rundir.owner, scan_members(directory, rundir.owner, files)};
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
