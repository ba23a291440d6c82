// SPDX-License-Identifier: BSD-3-Clause
// watchd/job_orders.cc -- see job_orders.h.
#include "watchd/job_orders.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/text.h"
#include "hypervisor/vm/guest_job.h"
#include "hypervisor/vm/program.h"
#include "watchd/texts/fields.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kListTimeout = 5 * kSecond;
constexpr TimeNs kGrace = 5 * kSecond;  // for btlctl to take back what it began
// btlctl looks at 4096 files of another user, of 4 KiB each: no user alone can make the list
// longer.
constexpr std::size_t kListBytesMax = std::size_t{64} << 20;

std::string name_of_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

bool is_code(int code, ExitCode expected) { return code == static_cast<int>(expected); }

}  // namespace

JobOrders::JobOrders(const Settings& settings)
    : settings_(settings), node_(settings.node.empty() ? name_of_machine() : settings.node) {}

/// A job without a user is behind a relay: there is one, or none if nobody answers.
Result<JobOrders::Found> JobOrders::jobs(TimeNs until) const {
  std::vector<std::string> words = settings_.btlctl;
  words.emplace_back("--json");
  if (!settings_.connect.empty())
    words.insert(words.end(),
                 {"--connect", settings_.connect, "--secret-file", settings_.secret_file});
  words.emplace_back("jobs");
  const TimeNs at = std::min(until, monotonic_now() + kListTimeout);
  const auto finished = hypervisor::run_program(words, {at, nullptr}, kGrace, kListBytesMax);
  if (!finished) return tl::unexpected(finished.error());
  if (is_code(finished->code, ExitCode::kNotFound)) return Found();
  const auto json = parse_json(finished->output, kAnswerDepthMax);
  const Json* const list = json ? list_in(*json, "jobs") : nullptr;
  if (finished->code != 0 || list == nullptr)
    return fail(Errc::kSystem, "btlctl jobs ended with code " + std::to_string(finished->code) +
                                   ": " + plain_text(finished->errors));
  Found found;
  for (const Json& each : *list) {
    Job job{text_in(each, "job"), text_in(each, "user")};
    // Users name their jobs, and other names might be options.
    const bool named = is_plain_name(job.id) && job.id.front() != '-' &&
                       (job.user.empty() || is_plain_name(job.user));
    if (named) found.jobs.push_back(std::move(job));
    found.unnamed += named ? 0 : 1;
  }
  return found;
}

std::vector<std::string> JobOrders::words(const Job& job, bool prepare, TimeNs timeout) const {
  using hypervisor::GuestOrder;
  const auto verb =
      hypervisor::verb_of(prepare ? GuestOrder::kPrepare : GuestOrder::kReturn, node_);
  const auto told = hypervisor::words_of({"", job.id}, verb, timeout);
  std::vector<std::string> words = settings_.btlctl;
  if (!settings_.connect.empty())
    words.insert(words.end(),
                 {"--connect", settings_.connect, "--secret-file", settings_.secret_file});
  if (settings_.connect.empty() && !job.user.empty())
    words.insert(words.end(), {"--user", job.user});
  words.insert(words.end(), told.begin() + 1, told.end());
  if (prepare) words.insert(words.end(), settings_.transports.begin(), settings_.transports.end());
  return words;
}

Outcome JobOrders::order(const Job& job, bool prepare, TimeNs until) const {
  using hypervisor::GuestOrder;
  const TimeNs timeout = std::max(kTurnLeast, until - monotonic_now());
  const auto finished = hypervisor::run_program(
      words(job, prepare, timeout), {monotonic_now() + timeout + kSecond, nullptr}, kGrace);
  if (!finished) return {Outcome::Kind::kNotDone, finished.error().text};
  const auto answer =
      hypervisor::read_answer(*finished, prepare ? GuestOrder::kPrepare : GuestOrder::kReturn);
  const std::string of = "job " + job.id + ": ";
  if (answer.no_job) return {Outcome::Kind::kDone, of + "it has ended"};
  if (answer.code != 0)
    return {Outcome::Kind::kNotDone,
            of + "code " + std::to_string(answer.code) + ": " + answer.text};
  const std::string absent =
      answer.absent.empty() ? "" : "; it goes on waiting by itself for " + answer.absent;
  return {Outcome::Kind::kDone, of + answer.text + absent};
}

/// A job that cannot be ordered costs the others neither their turn nor their share of the time.
Outcome JobOrders::order_all(bool prepare, TimeNs until) const {
  auto found = jobs(until);
  if (!found) return {Outcome::Kind::kNotDone, found.error().text};
  if (found->jobs.empty() && found->unnamed == 0) return {Outcome::Kind::kDone, "no job runs here"};
  Outcome all;
  const auto add = [&all](Outcome::Kind kind, const std::string& text) {
    if (kind != Outcome::Kind::kDone) all.kind = kind;
    all.text += (all.text.empty() ? "" : "; ") + text;
  };
  const auto not_done = [&add](const std::string& text) { add(Outcome::Kind::kNotDone, text); };
  if (found->unnamed > 0)
    not_done("jobs that btlctl jobs lists without a name: " + std::to_string(found->unnamed));
  Turns turns(std::move(found->jobs));
  if (!turns.too_many().empty()) not_done(turns.too_many());
  while (const auto turn = turns.next(monotonic_now(), until)) {
    const Outcome one = order(turn->job, prepare, turn->until);
    add(one.kind, one.text);
  }
  if (turns.left() > 0)
    not_done("jobs that there was no time for: " + std::to_string(turns.left()));
  return all;
}

Outcome JobOrders::prepare(TimeNs until) const { return order_all(true, until); }
Outcome JobOrders::give_back(TimeNs until) const { return order_all(false, until); }

}  // namespace livebtl::watchd
