// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/guest_job.cc -- see guest_job.h.
#include "hypervisor/vm/guest_job.h"

#include <algorithm>
#include <cstdio>

namespace livebtl::hypervisor {
namespace {

constexpr int kNotFound = 2, kRefused = 3, kBusy = 4, kTakenBack = 5, kNotReleased = 6;
constexpr int kMembersMissing = 10;
constexpr int kCodeMax = 130;
constexpr TimeNs kUntilNextCall = 500 * kMillisecond;

std::string seconds_of(TimeNs duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(duration) / 1e9);
  return text;
}

/// Whether the answer may soon be different. A device that the guest does not have yet, or whose
/// port is not active yet, is absent; if a peer cannot be reached over it yet, the order is taken
/// back and has changed nothing. The network may take a while to find a guest that has just
/// arrived: until then members on other nodes are missing, and again nothing is changed.
bool may_change(const GuestAnswer& answer, const Tries& tries) {
  const bool not_yet = answer.code == kRefused || answer.code == kTakenBack ||
                       answer.code == kMembersMissing || !answer.absent.empty();
  return answer.code == kBusy || (tries.card_comes && not_yet);
}

/// The time-out of a guest's btlctl that is started now, and the deadline for its answer.
TimeNs timeout_now(const Tries& tries) {
  return std::max(kSecond, std::min(tries.each, tries.until - monotonic_now()));
}
Deadline deadline_for(TimeNs timeout, const Tries& tries) {
  return {std::min(monotonic_now() + timeout + kAgentGrace, tries.end), nullptr};
}

/// "one; another", each preceded by `before`; "" if there is none.
std::string listed(const Json& document, const char* name, const std::string& before = "") {
  std::string text;
  const Json* list = member(document, name, Json::value_t::array);
  if (list == nullptr) return text;
  for (const Json& each : *list) {
    if (!each.is_string()) continue;
    text += (text.empty() ? "" : "; ") + before + one_line(each.get<std::string>());
  }
  return text;
}

/// The answer is not btlctl's.
GuestAnswer unreadable(const Finished& finished) {
  const std::string said = finished.errors.empty() ? finished.output : finished.errors;
  return {.code = 1,
          .text = "the guest's btlctl ended with code " + std::to_string(finished.code) +
                  " and no document: " + one_line(said)};
}

/// The final answer: a job that still waits for the card has not returned to it.
GuestAnswer said_last(GuestAnswer answer, const Tries& tries) {
  if (!tries.card_comes || answer.absent.empty()) return answer;
  answer.code = kNotReleased;
  answer.text = "the job takes it up by itself as soon as it is there: " + answer.absent;
  return answer;
}

}  // namespace

Verb verb_of(GuestOrder order, const std::string& node) {
  const auto& words = order == GuestOrder::kPrepare ? kPrepareWords : kReturnWords;
  Verb verb(std::begin(words), std::end(words));
  if (!node.empty()) verb.insert(verb.end(), {"--scope", "node:" + node});
  return verb;
}

Verb hold_start(const std::string& id, TimeNs lease) {
  return {"hold", "start", "--id", id, "--lease", seconds_of(lease)};
}

Verb hold_renew(const std::string& id, TimeNs lease) {
  return {"hold", "renew", "--id", id, "--lease", seconds_of(lease)};
}

Verb hold_check(const std::string& id) { return {"hold", "check", "--id", id}; }
Verb hold_end(const std::string& id) { return {"hold", "end", "--id", id}; }
Verb job_restored(const std::string& id, const std::vector<std::string>& relays) {
  Verb verb = {"job", "restored", "--id", id};
  for (const std::string& relay : relays) verb.insert(verb.end(), {"--relay", relay});
  return verb;
}

std::vector<std::string> words_naming(const GuestJob& job) {
  std::vector<std::string> words;
  if (!job.job.empty()) words.insert(words.end(), {"--job", job.job});
  if (!job.user.empty()) words.insert(words.end(), {"--user", job.user});
  return words;
}

std::vector<std::string> words_of(const GuestJob& job, const Verb& verb, TimeNs timeout) {
  std::vector<std::string> words = {job.btlctl, "--json", "--timeout", seconds_of(timeout)};
  const std::vector<std::string> whose = words_naming(job);
  words.insert(words.end(), whose.begin(), whose.end());
  words.insert(words.end(), verb.begin(), verb.end());
  return words;
}

GuestAnswer read_answer(const Finished& finished, std::optional<GuestOrder> order) {
  const Json document = parse_bounded(finished.output);
  const auto code = number_member(document, "exit_code");
  if (!code || *code != static_cast<std::uint64_t>(finished.code) || finished.code > kCodeMax)
    return unreadable(finished);
  GuestAnswer answer{.code = finished.code, .text = one_line(text_member(document, "text"))};
  const auto members = number_member(document, "members");
  answer.members = members.value_or(0);
  answer.no_job = answer.code == kNotFound && members == 0U;
  std::string holders = listed(document, "other_holders", "held by ");
  // The name in btlctl 0.1.
  if (holders.empty()) holders = listed(document, "foreign", "held by ");
  if (!holders.empty()) answer.text += "; " + holders;
  if (answer.code != 0) return answer;
  if (order == GuestOrder::kReturn) answer.absent = listed(document, "absent");
  if (order != GuestOrder::kPrepare) return answer;
  // A job that was prepared by an earlier call, since killed, has nothing left to release.
  if (is_true(document, "released") || is_true(document, "already")) return answer;
  return {.code = kNotReleased,
          .text = "the guest's btlctl does not say that all is released: " + answer.text};
}

Tries tries_until(TimeNs limit, bool card_comes) {
  const TimeNs now = monotonic_now();
  const TimeNs each = std::clamp(limit - now, kSecond, kPrepareMax);
  return {each, std::min(limit, now + (card_comes ? kCardMax : each + kAgentGrace)), card_comes,
          limit + kAgentGrace};
}

Result<GuestAnswer> give_verb(GuestAgent& agent, const GuestJob& job, const Verb& verb,
                              const Tries& tries) {
  const TimeNs timeout = timeout_now(tries);
  return agent.run(words_of(job, verb, timeout), deadline_for(timeout, tries))
      .map([](const Finished& finished) { return read_answer(finished); });
}

Result<GuestAnswer> give_order(GuestAgent& agent, const GuestJob& job, GuestOrder order,
                               const Tries& tries) {
  const auto node = agent.host_name(deadline_for(tries.each, tries));
  if (!node) return tl::unexpected(node.error());
  return give_order(agent, job, order, *node, tries);
}

Result<GuestAnswer> give_order(GuestAgent& agent, const GuestJob& job, GuestOrder order,
                               const std::string& node, const Tries& tries) {
  for (;;) {
    const TimeNs timeout = timeout_now(tries);
    const Deadline deadline = deadline_for(timeout, tries);
    const auto finished = agent.run(words_of(job, verb_of(order, node), timeout), deadline);
    if (!finished) return tl::unexpected(finished.error());
    GuestAnswer answer = read_answer(*finished, order);
    if (!may_change(answer, tries)) return answer;
    if (monotonic_now() >= tries.until) return said_last(std::move(answer), tries);
    pause(kUntilNextCall, deadline);
  }
}

}  // namespace livebtl::hypervisor
