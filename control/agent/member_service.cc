// SPDX-License-Identifier: BSD-3-Clause
// control/agent/member_service.cc -- see member_service.h.
#include "control/agent/member_service.h"

#include <unistd.h>

#include <algorithm>
#include <type_traits>

#include "base/process_files.h"
#include "control/place/directory.h"
#include "control/place/job_secret.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kWatchersMax = 16;
constexpr std::uint32_t kWatchLeaseMaxMs = 60'000;
constexpr std::size_t kMembersPage = 128;
constexpr TimeNs kLookLasts = 300 * kMillisecond;
constexpr TimeNs kCountLasts = kSecond;  // for people, and a count costs as much as an order

template <class T, class... Others>
concept OneOf = (std::is_same_v<T, Others> || ...);

/// A client from outside may ask for the members without naming the job.
template <class Request>
bool concerns(const std::string& wanted, const std::string& job) {
  return wanted == job || (std::is_same_v<Request, MembersRequest> && wanted.empty());
}

MemberFacts member_facts(const JobFacts& job, MemberId self, core::Admin& admin) {
  const core::EngineStatus status = admin.status();
  MemberFacts facts{describe(job, self), job.id, status.routing, {}};
  for (const auto& transport : status.transports)
    facts.transports.push_back({transport.name, transport.alias, transport.bound_to_device});
  return facts;
}

bool is_a_coordinators(const MemberEvent& event) noexcept {
  return std::holds_alternative<PromiseRequest>(event) || std::holds_alternative<Order>(event);
}

}  // namespace

MemberService::MemberService(const JobFacts& job, MemberId self, core::Admin& admin)
    : job_(job),
      self_(self),
      admin_(admin),
      machine_(member_facts(job, self, admin)),
      shown_(job, self, admin) {}

std::vector<MemberService::Reply> MemberService::join(const MemberEvent& how, TimeNs now) {
  return step({how}, nullptr, now);
}

std::vector<MemberService::Reply> MemberService::report_changed(TimeNs now) {
  auto replies = step({admin_.report()}, nullptr, now);
  tell_watchers(replies, now);
  return replies;
}

std::vector<MemberService::Reply> MemberService::handle(const Return& from, std::string_view body,
                                                        TimeNs now) {
  const auto message = decode(body);
  if (!message) return {{from, ErrorAnswer{message.error().code, message.error().text}}};
  return dispatch(from, *message, now);
}

std::vector<MemberService::Reply> MemberService::dispatch(const Return& from,
                                                          const Message& message, TimeNs now) {
  return std::visit(
      [&](const auto& request) -> std::vector<Reply> {
        using T = std::remove_cvref_t<decltype(request)>;
        if constexpr (requires { request.job; }) {
          if (!concerns<T>(request.job, job_.id))
            return {{from, ErrorAnswer{Errc::kNotFound, "this is a member of job " + job_.id}}};
        }
        if constexpr (OneOf<T, StandingRequest, PromiseRequest, Order, LadderEnd>) {
          count_members(now);
          if constexpr (OneOf<T, StandingRequest>) {
            if (look_for_holders(request, now)) return step({admin_.report(), request}, &from, now);
          }
          return step({request}, &from, now);
        } else if constexpr (OneOf<T, StatusRequest>) {
          return {{from, status(request, now)}};
        } else if constexpr (OneOf<T, MembersRequest, ListRequest, PlanRequest, AddressesRequest,
                                   HoldRequest>) {
          return {{from, answer(request)}};
        } else if constexpr (OneOf<T, PageRequest>) {
          return {{from, shown_.answer(self_.process)}};
        } else if constexpr (OneOf<T, SecretRequest>) {
          return {{from, SecretAnswer{secret_text(job_.secret)}}};
        } else if constexpr (OneOf<T, WatchRequest>) {
          return {{from, watch(from, request, now)}};
        } else {
          return {{from, ErrorAnswer{Errc::kInvalid, "this is an answer, not a request"}}};
        }
      },
      message);
}

std::vector<MemberService::Reply> MemberService::step(std::deque<MemberEvent> events,
                                                      const Return* from, TimeNs now) {
  std::vector<Reply> replies;
  const bool leads = is_a_coordinators(events.back());
  // An order is answered when its rung is reached or refused, or when it is repeated.
  bool taken = false;
  for (const TimeNs begun = monotonic_now(); !events.empty(); events.pop_front()) {
    const auto actions = machine_.step(events.front(), now);
    shown_.remember(events.front(), actions, machine_, now + monotonic_now() - begun);
    for (const MemberAction& action : actions) {
      if (const auto* answer = std::get_if<Answer>(&action)) {
        if (from != nullptr && leads && !answer->standing.stale) {
          coordinator_ = *from;
          has_coordinator_ = true;
        }
        if (from != nullptr && !taken) replies.push_back({*from, answer->standing});
      } else if (const auto* notify = std::get_if<Notify>(&action)) {
        if (has_coordinator_) replies.push_back({coordinator_, notify->standing});
      } else if (const auto* submit = std::get_if<Submit>(&action)) {
        events.emplace_back(admin_.submit(submit->order));
        taken = true;
      } else if (const auto* adopt = std::get_if<Adopt>(&action)) {
        admin_.adopt(adopt->order);
        events.emplace_back(admin_.report());
      }
    }
  }
  if (leads) tell_watchers(replies, now);
  return replies;
}

void MemberService::tell_watchers(std::vector<Reply>& replies, TimeNs now) {
  std::erase_if(watchers_, [now](const Watcher& watcher) { return watcher.until <= now; });
  for (const Watcher& watcher : watchers_)
    replies.push_back({watcher.to, WatchEvent{"standing", machine_.standing(now)}});
}

// A question repeated because its answer was slow does not cause another look.
bool MemberService::look_for_holders(const StandingRequest& request, TimeNs now) {
  if (!request.release || (looked_at_ && now - *looked_at_ < kLookLasts)) return false;
  looked_at_ = now;
  admin_.look_for_holders();
  return true;
}

void MemberService::count_members(TimeNs now) {
  if (counted_at_ && now - *counted_at_ < kCountLasts) return;
  counted_at_ = now;
  const auto is_card = [](const auto& name) {
    return parse_process_name(name, kCardFile).has_value();
  };
  const auto names = read_directory(job_.directory);
  if (!names) return;  // keep the count
  const auto locks = std::ranges::count_if(*names, is_card);
  machine_.set_list_size(static_cast<std::uint32_t>(locks));
}

// Every command asks every member for the relays it knows; if each read all cards for that, the
// cost would grow with the square of the members.
Message MemberService::answer(const MembersRequest& request) {
  MembersAnswer page;
  page.job = job_.id;
  page.offset = request.offset;
  page.relays = admin_.relays();
  turn_by(page.relays, pages_++);
  if (request.offset == kNoMembers) return fit_page(std::move(page));
  const auto scan = scan_members(job_.directory, ::geteuid());
  std::vector<MemberEntry> entries;
  for (const auto& card : scan.live) entries.push_back(entry_of(card, false));
  for (const auto& card : scan.gone) entries.push_back(entry_of(card, true));
  page.total = static_cast<std::uint32_t>(entries.size());
  page.complete = scan.complete;
  const std::size_t first = std::min<std::size_t>(request.offset, entries.size());
  const std::size_t last = std::min(first + kMembersPage, entries.size());
  page.members.assign(entries.begin() + static_cast<std::ptrdiff_t>(first),
                      entries.begin() + static_cast<std::ptrdiff_t>(last));
  return fit_page(std::move(page));
}

Message MemberService::status(const StatusRequest& request, TimeNs now) const {
  StatusAnswer answer;
  answer.standing = machine_.standing(now);
  answer.engine = admin_.status();
  auto& peers = answer.engine.peers;
  answer.peers_total = static_cast<std::uint32_t>(peers.size());
  answer.peers_offset = request.peers_offset;
  if (!request.peers) {
    peers.clear();
    return answer;
  }
  const std::size_t skipped = std::min<std::size_t>(request.peers_offset, peers.size());
  peers.erase(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(skipped));
  return fit_page(std::move(answer));
}

Message MemberService::answer(const ListRequest&) const {
  return ListAnswer{self_, job_.label, job_.rank, process_name(ProcessId{job_.node}),
                    admin_.status().transports};
}

Message MemberService::answer(const PlanRequest& request) const {
  return PlanAnswer{self_, job_.label, admin_.plan(request.routing)};
}

Message MemberService::answer(const AddressesRequest& request) const {
  return AddressesAnswer{self_, request.question, admin_.contacts()};
}

Message MemberService::answer(const HoldRequest& request) const {
  HoldAnswer held{self_, job_.label, job_.rank, job_.announced, request.number, {}};
  switch (request.action) {
    case HoldAction::kAsk:
      held.report = admin_.hold_report();
      break;
    case HoldAction::kStart:
      held.report = admin_.hold(
          {request.id, request.lease_ms * kMillisecond, request.members, request.incarnation});
      break;
    case HoldAction::kEnd:
      held.report = admin_.end_hold(request.id);
      break;
    case HoldAction::kClaim:
      held.report = admin_.claim_hold({request.id, request.claim}, request.lease_ms * kMillisecond);
      break;
    case HoldAction::kRestore:
      held.report = admin_.restore({request.id, request.claim}, request.incarnation);
      if (held.report.refusal.empty()) admin_.learn_relays(request.relays);
      break;
  }
  return held;
}

Message MemberService::watch(const Return& from, const WatchRequest& request, TimeNs now) {
  const auto same = [&from](const Watcher& watcher) {
    return watcher.to.listener == from.listener && watcher.to.peer == from.peer &&
           watcher.to.back == from.back;
  };
  std::erase_if(watchers_,
                [&](const Watcher& watcher) { return watcher.until <= now || same(watcher); });
  if (watchers_.size() == kWatchersMax) {
    return ErrorAnswer{Errc::kLimit, "sixteen clients watch already; end one, or use status"};
  }
  const TimeNs lease = std::min(request.lease_ms, kWatchLeaseMaxMs) * kMillisecond;
  watchers_.push_back({from, now + lease});
  return WatchEvent{"standing", machine_.standing(now)};
}

}  // namespace livebtl::control
