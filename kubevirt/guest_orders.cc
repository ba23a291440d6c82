// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/guest_orders.cc -- see guest_orders.h.
#include "kubevirt/guest_orders.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/exit_code.h"
#include "hypervisor/qmp/socket_agent.h"
#include "hypervisor/vm/program.h"

namespace livebtl::kubevirt {
namespace {

using hypervisor::GuestAnswer;
using hypervisor::GuestOrder;

constexpr TimeNs kGrace = 2 * kSecond;
constexpr TimeNs kAgainAfter = 500 * kMillisecond;
constexpr TimeNs kUndoTimeout = 5 * kSecond;
// The end of the caller's time is for finding out whether anybody answers at the relay.
constexpr TimeNs kLookMax = 5 * kSecond;
constexpr TimeNs kLookEnds = 500 * kMillisecond;

bool is(const GuestAnswer& answer, ExitCode code) { return answer.code == static_cast<int>(code); }

/// Another command may be at work, or the job may be held: that passes.
bool may_pass(const GuestAnswer& answer, GuestOrder order) {
  return is(answer, ExitCode::kBusy) || is(answer, ExitCode::kRefused) ||
         (order == GuestOrder::kReturn && is(answer, ExitCode::kRetracted));
}

/// What was set aside but not released by all is to be used again: the guest will stay. Without an
/// answer in time nobody knows how far the order came.
bool may_be_half_done(const Result<GuestAnswer>& answer) {
  if (!answer) return answer.error().code == Errc::kTimeout;
  return is(*answer, ExitCode::kNotReleased) || is(*answer, ExitCode::kForeign);
}

/// The host name of a KubeVirt guest is the name of its instance.
std::string node_of(const std::string& domain) { return domain.substr(domain.find('_') + 1); }

/// When btlctl must have ended: if the relay is gone it takes all its time, and what that means is
/// asked afterwards; a guest's btlctl must say how it ended while its answer is still waited for.
TimeNs order_ends(TimeNs until) {
  return until - std::min(kLookMax, std::max<TimeNs>(0, until - monotonic_now()) / 4);
}

hypervisor::Verb words_by_relay(const std::string& btlctl, const GuestPlace& place,
                                const hypervisor::Verb& verb, TimeNs timeout) {
  auto words = hypervisor::words_of({btlctl, ""}, verb, timeout);
  const std::vector<std::string> connect = {"--connect", place.relay, "--secret-file",
                                            place.secret_file};
  words.insert(words.begin() + 1, connect.begin(), connect.end());
  return words;
}

}  // namespace

std::shared_ptr<std::timed_mutex> GuestOrders::lock_of(const std::string& domain) {
  const std::lock_guard lock(mutex_);
  std::erase_if(locks_, [](const auto& each) { return each.second.expired(); });
  auto& kept = locks_[domain];
  auto found = kept.lock();
  if (!found) kept = found = std::make_shared<std::timed_mutex>();
  return found;
}

GuestOrders::Answer GuestOrders::by_relay_once(const GuestPlace& place, const std::string& node,
                                               GuestOrder order, TimeNs until) const {
  const TimeNs timeout = std::max(kSecond, until - monotonic_now());
  const auto words =
      words_by_relay(settings_.btlctl, place, hypervisor::verb_of(order, node), timeout);
  const auto finished =
      hypervisor::run_program(words, {monotonic_now() + timeout + kSecond, nullptr}, kGrace);
  if (!finished) return tl::unexpected(finished.error());
  return hypervisor::read_answer(*finished, order);
}

GuestOrders::Answer GuestOrders::by_relay(const GuestPlace& place, const std::string& node,
                                          GuestOrder order, TimeNs until) const {
  for (;;) {
    Answer answer = by_relay_once(place, node, order, until);
    if (!answer || !may_pass(*answer, order) || monotonic_now() + kAgainAfter >= until)
      return answer;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kAgainAfter));
  }
}

GuestOrders::Answer GuestOrders::by_agent(const GuestPlace& place, GuestOrder order,
                                          TimeNs until) const {
  hypervisor::SocketAgent agent(place.agent);
  std::string node = place.node;
  if (node.empty()) {
    auto name = agent.host_name({until, nullptr});
    if (!name) return tl::unexpected(name.error());
    node = std::move(*name);
  }
  auto tries = hypervisor::tries_until(order_ends(until), false);
  tries.end = until;
  return hypervisor::give_order(agent, {settings_.guest_btlctl, ""}, order, node, tries);
}

/// True: nobody answers at the relay. A job that answers but knows no such node still has its
/// devices.
bool GuestOrders::has_ended(const GuestPlace& place, TimeNs until) const {
  const TimeNs timeout = std::clamp<TimeNs>(until - monotonic_now(), kSecond, kLookMax) - kLookEnds;
  const auto finished =
      hypervisor::run_program(words_by_relay(settings_.btlctl, place, {"jobs"}, timeout),
                              {monotonic_now() + timeout + kLookEnds, nullptr}, kGrace);
  return finished && finished->code == static_cast<int>(ExitCode::kNotFound);
}

/// Best effort: the caller hears of the order that was not carried out.
void GuestOrders::take_back(const GuestPlace& guest, const std::string& node) const {
  const TimeNs end = monotonic_now() + kUndoTimeout;
  (void)(guest.agent.empty() ? by_relay(guest, node, GuestOrder::kReturn, end)
                             : by_agent(guest, GuestOrder::kReturn, end));
}

Result<std::string> GuestOrders::order(const std::string& domain, GuestOrder order, TimeNs until) {
  const auto place = read_guest(settings_.guests, domain);
  if (!place) return tl::unexpected(place.error());
  if (!*place) return domain + " has no job";
  const auto shared = lock_of(domain);
  std::unique_lock lock(*shared, std::defer_lock);
  if (!lock.try_lock_for(std::chrono::nanoseconds(std::max<TimeNs>(0, until - monotonic_now()))))
    return fail(Errc::kTimeout, domain + ": another call for it has not ended");
  const GuestPlace& guest = **place;
  const std::string node = guest.node.empty() ? node_of(domain) : guest.node;
  const bool relayed = guest.agent.empty();
  const Answer answer =
      relayed ? by_relay(guest, node, order, order_ends(until)) : by_agent(guest, order, until);
  if (order == GuestOrder::kPrepare && may_be_half_done(answer)) take_back(guest, node);
  if (!answer) return fail(answer.error().code, domain + ": " + answer.error().text);
  const bool ended =
      answer->no_job || (relayed && is(*answer, ExitCode::kNotFound) && has_ended(guest, until));
  if (ended) return domain + ": its job has ended";
  if (answer->code == 0) return domain + ": " + answer->text;
  return fail(Errc::kRefused,
              domain + ": code " + std::to_string(answer->code) + ": " + answer->text);
}

Result<std::string> GuestOrders::prepare(const std::string& domain, TimeNs until) {
  return order(domain, GuestOrder::kPrepare, until);
}

Result<std::string> GuestOrders::give_back(const std::string& domain, TimeNs until) {
  return order(domain, GuestOrder::kReturn, until);
}

}  // namespace livebtl::kubevirt
