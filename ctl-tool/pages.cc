// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/pages.cc -- see pages.h.
#include "ctl-tool/pages.h"

#include <time.h>

#include <array>
#include <cstdio>
#include <set>
#include <tuple>

#include "base/process_mark.h"
#include "control/place/page_reader.h"

namespace livebtl::tool {
namespace {

using control::MemberCard;
using control::PageView;

/// A page counts only if it is of the process that the card names.
bool is_of(const PageView& page, const MemberCard& card) {
  return page.member == card.member && page.pid == static_cast<std::uint32_t>(card.mark.pid);
}

/// A pid means something only in the namespace that it is from.
bool stands_still(const ProcessMark& mark, std::uint64_t own_space) {
  if (mark.space != own_space) return false;
  const auto stat = read_process_stat(mark.pid);
  return stat && (stat->state == 'T' || stat->state == 't');
}

void read_into(Pages& pages, const control::JobPlace& job, const MemberCard& card) {
  auto page = control::read_page(job.directory, job.owner, card.member.process);
  if (page && !is_of(*page, card))
    page = fail(Errc::kCorrupt, "the page names another process than the card beside it");
  if (page)
    pages.pages.push_back(std::move(*page));
  else
    pages.unread.push_back({card.name, page.error(), card.rank, card.announced});
}

void count_missing(Pages& pages, const std::vector<control::Counted>& unread,
                   const std::vector<std::pair<int, bool>>& gone) {
  std::vector<control::Counted> live = unread;
  for (const PageView& page : pages.pages) live.push_back({page.name, page.rank, page.announced});
  std::set<int> gone_ranks;
  for (const auto& [rank, known] : gone) {
    if (known) gone_ranks.insert(rank);
  }
  pages.missing = control::missing_members(live, gone_ranks, gone.size());
}

void sort_by_rank(Pages& pages) {
  std::ranges::sort(pages.pages, {}, [](const PageView& page) {
    return std::tuple(page.rank < 0, page.rank, page.member);
  });
}

bool spans_nodes(const control::MemberScan& scan) {
  return std::ranges::any_of(scan.live, [](const MemberCard& card) { return !card.relay.empty(); });
}

std::string rank_name(int rank) { return "rank " + std::to_string(rank); }

}  // namespace

Pages pages_here(const control::JobPlace& job) {
  Pages pages;
  pages.job = job.id;
  const auto scan = control::scan_members(job.directory, job.owner);
  std::vector<control::Counted> unread;
  const std::uint64_t own_space = own_mark().space;
  for (const MemberCard& card : scan.live) {
    const std::size_t before = pages.unread.size();
    read_into(pages, job, card);
    const bool read = pages.unread.size() == before;
    if (read && stands_still(card.mark, own_space))
      pages.stopped.push_back(short_name(pages.pages.back()));
    if (!read) unread.push_back({card.name, card.rank, card.announced});
  }
  std::vector<std::pair<int, bool>> gone;
  for (const MemberCard& card : scan.gone) gone.emplace_back(card.rank, card.rank >= 0);
  count_missing(pages, unread, gone);
  sort_by_rank(pages);
  return pages;
}

tl::expected<PageLook, NoJob> PageLook::open(const CommandLine& line,
                                             const std::atomic<bool>& stop) {
  PageLook look(line, stop);
  if (line.connect.empty()) {
    auto job = find_job(line.job, line.user);
    if (!job) return tl::unexpected(job.error());
    look.here_ = std::move(*job);
    if (!spans_nodes(look.here_->members)) return look;
  }
  auto links = open_job(line, 0, stop);
  if (!links) return tl::unexpected(links.error());
  look.links_.emplace(std::move(*links));
  return look;
}

Pages PageLook::look() {
  Pages pages = here_ ? pages_here(*here_) : Pages{};
  if (links_) add_remote(pages);
  return pages;
}

void PageLook::add_remote(Pages& pages) {
  pages.job = links_->job();
  const auto found = links_->scan();
  std::vector<control::MemberEntry> others = found.live;
  std::vector<control::Counted> unread;
  for (const auto& each : pages.unread) unread.push_back({each.name, each.rank, each.announced});
  std::erase_if(others, [&](const control::MemberEntry& member) {
    return std::ranges::any_of(
               pages.pages, [&](const PageView& page) { return page.member == member.member; }) ||
           std::ranges::any_of(pages.unread,
                               [&](const auto& each) { return each.name == member.name; });
  });
  Asker<control::PageAnswer> asker(*links_, line_.timeout_for_look(), stop_);
  auto result = asker.ask(std::move(others), control::PageRequest{links_->job()});
  for (auto& [member, answer] : result.answers) {
    if (answer.page.member == member.member) pages.pages.push_back(std::move(answer.page));
  }
  for (const auto& member : result.silent) {
    pages.unread.push_back(
        {member.name, {Errc::kTimeout, "no answer; is it stopped?"}, member.rank});
    unread.push_back({member.name, member.rank, 0, false});
  }
  std::vector<std::pair<int, bool>> gone;
  for (const auto& member : found.gone) gone.emplace_back(member.rank, member.rank >= 0);
  count_missing(pages, unread, gone);
  sort_by_rank(pages);
}

ExitCode note_unread(const Pages& pages, const std::atomic<bool>& stop) {
  if (stop.load()) return ExitCode::kInterrupted;
  std::size_t told = 0;
  bool forbidden = false;
  for (const auto& each : pages.unread) {
    forbidden = forbidden || each.why.code == Errc::kAuth;
    if (++told <= control::kNamesMax)
      complain("the page of " + printable(each.name) + " cannot be read: " + each.why.text);
  }
  if (told > control::kNamesMax)
    complain("and " + std::to_string(told - control::kNamesMax) + " more");
  if (told == 0) return ExitCode::kDone;
  return forbidden ? ExitCode::kNotPermitted : ExitCode::kMembersMissing;
}

Json unread_json(const Pages& pages) {
  Json list = Json::array();
  for (const auto& each : pages.unread) {
    list.push_back(
        {{"name", each.name}, {"code", errc_name(each.why.code)}, {"why", each.why.text}});
  }
  return list;
}

std::string short_name(const control::Described& member) {
  return printable(member.rank >= 0 ? rank_name(member.rank) : member.name);
}

std::string short_name(const control::PairView& pair, const Pages& pages) {
  for (const PageView& page : pages.pages) {
    if (page.member.process == pair.process) return short_name(page);
  }
  return printable(pair.name.empty() ? "process " + control::process_name(pair.process)
                                     : pair.name);
}

std::string time_text(std::uint64_t unix_ms) {
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t used = ::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text.data() + used, text.size() - used, ".%03u",
                static_cast<unsigned>(unix_ms % 1000));
  return text.data();
}

}  // namespace livebtl::tool
