// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/rates.cc -- see rates.h.
#include "ctl-tool/rates.h"

#include <map>
#include <tuple>

namespace livebtl::tool {
namespace {

using control::PageView;
using control::PairView;

constexpr std::uint32_t kQueuedCounted = 1000;  // a page counts no further

const PageView* page_of(const Pages& pages, control::MemberId member) {
  const auto found = std::ranges::find(pages.pages, member, &PageView::member);
  return found == pages.pages.end() ? nullptr : &*found;
}

/// A process's counters between two of its copies of them.
class Between {
 public:
  Between(const PageView* before, const PageView& now)
      : before_(before),
        seconds_(before == nullptr || now.unix_ms <= before->unix_ms
                     ? 0.0
                     : static_cast<double>(now.unix_ms - before->unix_ms) / 1e3) {}

  const PageView* before() const noexcept { return before_; }
  double rate(std::uint64_t then, std::uint64_t now) const noexcept {
    return seconds_ > 0 && now > then ? static_cast<double>(now - then) / seconds_ : 0.0;
  }

 private:
  const PageView* before_;
  double seconds_;
};

struct Summed {
  TransportRate rate;
  std::uint32_t ends = 0, bulk_ends = 0, members = 0, open = 0, excluded = 0, quiesced = 0,
                absent = 0;
};

std::string state_of(const Summed& sum) {
  const auto in = [&](const char* state, std::uint32_t members) {
    return members == sum.members ? std::string(state) : state + (" in " + std::to_string(members));
  };
  if (sum.excluded > 0) return in("removed", sum.excluded);
  if (sum.quiesced > 0) return in("quiesced", sum.quiesced);
  if (sum.absent > 0) return in("absent", sum.absent);
  return sum.open == 0 ? "closed" : in("open", sum.open);
}

void add_transports(const PageView& page, const Between& between,
                    std::map<std::string, Summed>& sums) {
  for (const core::TransportStatus& now : page.transports) {
    core::TransportStatus then = now;
    if (between.before() != nullptr) {
      const auto& list = between.before()->transports;
      const auto found = std::ranges::find(list, now.name, &core::TransportStatus::name);
      if (found != list.end()) then = *found;
    }
    Summed& sum = sums[now.name];
    const std::uint32_t own = now.own_pair ? 1 : 0;  // both its ends are here
    sum.ends += now.peers + (now.peers > 0 ? own : 0);
    sum.bulk_ends += now.bulk_peers + (now.bulk_peers > 0 ? own : 0);
    sum.rate.rate.bytes_sent += between.rate(then.carried.bytes_sent, now.carried.bytes_sent);
    sum.rate.rate.bytes_received +=
        between.rate(then.carried.bytes_received, now.carried.bytes_received);
    sum.rate.frames_sent += between.rate(then.carried.frames_sent, now.carried.frames_sent);
    sum.rate.paths_lost += now.paths_lost;
    sum.members += 1;
    sum.open += now.open ? 1 : 0;
    sum.excluded += now.excluded ? 1 : 0;
    sum.quiesced += now.quiesced ? 1 : 0;
    sum.absent += now.absent.empty() ? 0 : 1;
  }
}

std::string waits_of(const PairView& pair) {
  std::vector<std::string> waits;
  if (pair.awaited > 0) waits.push_back(counted(pair.awaited, "receive", "receives") + " from it");
  if (pair.untaken > 0)
    waits.push_back(counted(pair.untaken, "send", "sends") + " that it has not received");
  if (pair.queued > 0)
    waits.push_back(counted(pair.queued, "frame", "frames") +
                    (pair.queued >= kQueuedCounted ? " or more" : "") + " to it queued" +
                    (pair.out_of_credit ? " until it receives" : ""));
  return join(waits, "; ");
}

PairRate rate_of(const PairView& now, const PageView& page, const Between& between,
                 const Pages& pages) {
  PairView then = now;
  if (between.before() != nullptr) {
    const auto& list = between.before()->pairs;
    const auto found = std::ranges::find(list, now.process, &PairView::process);
    if (found != list.end()) then = *found;
  }
  PairRate pair;
  pair.process = short_name(page);
  pair.peer = short_name(now, pages);
  pair.sending = now.sending;
  pair.bulk = now.bulk;
  pair.rate = {between.rate(then.bytes_sent, now.bytes_sent),
               between.rate(then.bytes_received, now.bytes_received),
               between.rate(then.messages_sent, now.messages_sent),
               between.rate(then.messages_received, now.messages_received)};
  pair.waits = waits_of(now);
  pair.lost = now.lost;
  pair.now = now;
  return pair;
}

void add_losses(const PageView& page, const Pages& pages, JobRates& rates) {
  rates.losses_total += page.losses_total;
  for (const control::LossView& loss : page.losses) {
    PairView peer;
    peer.process = loss.process;
    const auto known = std::ranges::find(page.pairs, loss.process, &PairView::process);
    if (known != page.pairs.end()) peer.name = known->name;
    rates.losses.push_back({loss.unix_ms, short_name(page), short_name(peer, pages),
                            printable(loss.transport), printable(loss.why)});
  }
}

/// "": at rest.
std::string doing_of(const PageView& page) {
  const bool foot_or_top = page.rung == control::Rung::kOld || page.rung == control::Rung::kNew;
  std::string text;
  if (page.joining) text = "joins";
  if (!page.refusal.empty()) text = "refused: " + page.refusal;
  if (text.empty() && (!page.reached || !foot_or_top)) {
    text = page.doing + (page.undoing ? ", going back, " : ", ") + control::rung_name(page.rung);
    if (!page.waiting.empty()) text += ", waits for " + page.waiting;
  }
  if (page.hold.state != core::HoldState::kNone)
    text += (text.empty() ? "" : "; ") + std::string("hold ") +
            control::hold_state_name(page.hold.state);
  return text.empty() ? "" : short_name(page) + ": " + printable(text);
}

}  // namespace

JobRates rates_between(const Pages& before, const Pages& now) {
  JobRates rates;
  std::map<std::string, Summed> sums;
  for (const PageView& page : now.pages) {
    const Between between(page_of(before, page.member), page);
    add_transports(page, between, sums);
    for (const PairView& pair : page.pairs)
      rates.pairs.push_back(rate_of(pair, page, between, now));
    add_losses(page, now, rates);
    if (std::string doing = doing_of(page); !doing.empty()) rates.busy.push_back(std::move(doing));
  }
  for (auto& [name, sum] : sums) {
    sum.rate.name = name;
    sum.rate.state = state_of(sum);
    sum.rate.pairs = (sum.ends + 1) / 2;
    sum.rate.bulk_pairs = (sum.bulk_ends + 1) / 2;
    rates.transports.push_back(sum.rate);
  }
  std::ranges::stable_sort(rates.pairs, [](const PairRate& one, const PairRate& other) {
    const auto key = [](const PairRate& pair) {
      return std::tuple(pair.rate.bytes_sent + pair.rate.bytes_received, !pair.waits.empty());
    };
    return key(one) > key(other);
  });
  std::ranges::stable_sort(rates.losses, std::ranges::greater(), &LossSeen::unix_ms);
  return rates;
}

}  // namespace livebtl::tool
