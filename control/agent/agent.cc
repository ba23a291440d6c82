// SPDX-License-Identifier: BSD-3-Clause
// control/agent/agent.cc -- see agent.h: the thread, its sleep, and what wakes it.
//
// AgentThread's functions declared from `run()` on run on the agent's thread. A forked child has no
// such thread: there the destructor leaves everything as it is.
#include "control/agent/agent.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "base/bell.h"
#include "base/log.h"
#include "control/agent/join.h"
#include "control/agent/late_join.h"
#include "control/agent/member_service.h"
#include "control/agent/router.h"
#include "control/agent/search.h"
#include "control/agent/takeover.h"
#include "control/place/fork_watch.h"
#include "control/place/rundir.h"
#include "control/place/signals.h"

namespace livebtl::control {
namespace {

// Control messages always name a member with this one, even after it is raised (ADR 0010).
constexpr Incarnation kStarted{1};
constexpr TimeNs kRelayStarts = 3 * kSecond;
// Messages per turn: a flooded member still moves its engine.
constexpr int kMessagesATurn = 256;

class AgentThread final : public Agent {
 public:
  AgentThread(const JobFacts& job, MemberId self, core::Admin& admin)
      : job_(job), self_(self), admin_(admin) {}
  ~AgentThread() override;

  Status start();

 private:
  void run(std::promise<Status> started);
  Status join_job();
  Status take_place(const MemberEvent& how);
  Result<MemberEvent> ask_fellows();
  void serve();
  void join_late();
  void send_all(const std::vector<MemberService::Reply>& replies);
  void sleep(std::int64_t sleep_ns);
  MemberCard card() const;
  void see_to_card();
  void wait_for_relay();
  void finish_what_was_left();

  JobFacts job_;
  const MemberId self_;
  core::Admin& admin_;
  Bell bell_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> reported_{false};
  std::thread thread_;

  struct Belongings {  // of the agent's thread
    Router router;
    MemberService service;
    MemberFile file;
  };
  std::unique_ptr<Belongings> mine_;
  std::optional<Search> search_;        // uses mine_
  std::optional<LateJoin> late_join_;   // likewise; only until it has joined
  std::unique_ptr<Takeover> takeover_;  // null: switched off
  std::string relay_;                   // this node's, as the card shows it; empty: none
  bool one_node_ = false;               // no relay is needed; shown on the card once it has joined
  bool left_behind_ = false;            // as the card shows it
  bool control_due_ = true;             // a message, a report or a deadline of the control plane
  bool joined_ = false;
  bool alone_here_ = false;
  LogLimit unanswered_;  // a client may ask at any rate
  std::vector<pollfd> fds_;
};

Status AgentThread::start() {
  if (!bell_.usable()) {
    return fail(Errc::kNoMemory, "no descriptor for the control agent; raise ulimit -n");
  }
  std::promise<Status> started;
  auto result = started.get_future();
  {
    const AllSignalsBlocked blocked;  // inherited by the thread
    thread_ =
        std::thread([this, promise = std::move(started)]() mutable { run(std::move(promise)); });
  }
  return result.get();
}

AgentThread::~AgentThread() {
  if (in_forked_child()) {
    if (thread_.joinable()) thread_.detach();
    static_cast<void>(mine_.release());  // its memory is the parent's business
    static_cast<void>(takeover_.release());
    return;
  }
  stop_.store(true);
  bell_.ring();
  if (thread_.joinable()) thread_.join();
  leave_job_directory(job_.directory, std::move(job_.hold));
}

MemberCard AgentThread::card() const {
  MemberCard card = card_of(job_, self_);
  card.joined = joined_;
  card.relay = relay_;
  card.one_node = joined_ && one_node_;
  card.left_behind = left_behind_;
  return card;
}

Status AgentThread::join_job() {
  auto router = Router::open(job_, self_.process);
  if (!router) return tl::unexpected(router.error());
  MemberService service(job_, self_, admin_);  // its page exists before the card can be found
  auto file = MemberFile::publish(job_.directory, card());
  if (!file) return tl::unexpected(file.error());
  mine_.reset(new Belongings{std::move(*router), std::move(service), std::move(*file)});
  search_.emplace(job_, self_.process, admin_, mine_->router);
  see_to_card();
  const auto how = ask_fellows();
  if (!how) return tl::unexpected(how.error());
  // A spawned process that finds nobody here has its parents elsewhere.
  alone_here_ = job_.announced == 0 && std::holds_alternative<JoinAsFirst>(*how);
  see_to_card();
  wait_for_relay();
  admin_.on_report([this] {
    reported_.store(true);
    bell_.ring();
  });
  if (!alone_here_) return take_place(*how);
  late_join_.emplace(job_, self_.process, admin_, mine_->router, monotonic_now());
  return {};
}

Status AgentThread::take_place(const MemberEvent& how) {
  late_join_.reset();
  send_all(mine_->service.join(how, monotonic_now()));
  joined_ = true;
  if (job_.takes_over) takeover_ = std::make_unique<Takeover>(job_, self_);
  return mine_->file.update(card());
}

Result<MemberEvent> AgentThread::ask_fellows() {
  const WithSpares room(mine_->router.spares());
  return learn_standing(job_, self_.process, stop_);
}

/// The launcher may have spread the job over several nodes. It does not report spawned processes,
/// but those on other nodes know where they are, and tell their peers on connecting. Updates the
/// card if that, or what this process is, has changed.
void AgentThread::see_to_card() {
  Router& router = mine_->router;
  if (job_.relays || alone_here_ || admin_.spans_nodes()) router.need_relay();
  router.turn(monotonic_now());
  const bool one_node = !router.needs_relay();
  const bool left_behind = admin_.left_behind();
  if (router.relay() == relay_ && one_node == one_node_ && left_behind == left_behind_) return;
  one_node_ = one_node;
  left_behind_ = left_behind;
  relay_ = router.relay();
  if (!relay_.empty()) admin_.publish_relay(relay_);
  const auto written = mine_->file.update(card());
  if (!written) log(LogLevel::kWarn, "agent", "%s", written.error().text.c_str());
}

/// Waits a while so that first frames to peers on other nodes name the relay; starts without one if
/// need be.
void AgentThread::wait_for_relay() {
  const TimeNs deadline = monotonic_now() + kRelayStarts;
  while (mine_->router.needs_relay() && relay_.empty() && !stop_.load()) {
    const TimeNs now = monotonic_now();
    if (now >= deadline) return;
    fds_.clear();
    mine_->router.add_poll_fds(fds_);
    const TimeNs until = std::min(deadline, mine_->router.wake_at());
    ::poll(fds_.data(), fds_.size(),
           static_cast<int>(std::max<TimeNs>(until - now, 0) / kMillisecond) + 1);
    see_to_card();
  }
}

void AgentThread::run(std::promise<Status> started) {
  ::pthread_setname_np(::pthread_self(), "livebtl-agent");
  auto joined = join_job();
  const bool go_on = joined.has_value();
  started.set_value(std::move(joined));
  while (go_on && !stop_.load()) {
    if (control_due_) {
      serve();
      finish_what_was_left();
    }
    sleep(admin_.agent_turn());
  }
  takeover_.reset();
  admin_.on_report([] {});
  late_join_.reset();
  search_.reset();
  mine_.reset();
}

void AgentThread::serve() {
  bell_.silence();
  see_to_card();
  if (reported_.exchange(false)) {
    send_all(mine_->service.report_changed(monotonic_now()));
    search_->reported();
  }
  for (int i = 0; i < kMessagesATurn; ++i) {
    const auto envelope = mine_->router.receive();
    if (!envelope) break;
    send_all(mine_->service.handle(envelope->from, envelope->body, monotonic_now()));
  }
  while (const auto answer = mine_->router.next_answer()) {
    if (late_join_) late_join_->hear(*answer);
    search_->hear(*answer);
  }
  search_->turn(monotonic_now());
  if (late_join_) join_late();
}

void AgentThread::join_late() {
  const auto how = late_join_->turn(monotonic_now());
  if (!how) return;
  if (const Status done = take_place(*how); !done)
    log(LogLevel::kWarn, "agent", "%s", done.error().text.c_str());
}

void AgentThread::finish_what_was_left() {
  while (const auto note = mine_->router.next_note()) {
    if (takeover_) takeover_->hear(*note, monotonic_now());
  }
  if (takeover_) takeover_->turn(mine_->service.machine(), mine_->router.spares(), monotonic_now());
}

void AgentThread::send_all(const std::vector<MemberService::Reply>& replies) {
  for (const auto& reply : replies) {
    const auto body = encode(reply.message);
    if (body)
      mine_->router.answer(reply.to, *body);
    else if (unanswered_.allow(monotonic_now()))
      log(LogLevel::kWarn, "agent", "cannot answer: %s withheld=%llu", body.error().text.c_str(),
          static_cast<unsigned long long>(unanswered_.suppressed()));
  }
}

/// sleep_ns < 0: until something happens. If only frames of the engine arrive, the control plane is
/// left alone.
void AgentThread::sleep(std::int64_t sleep_ns) {
  if (stop_.load()) return;
  const TimeNs finish = takeover_ ? takeover_->wake_at(mine_->service.machine()) : INT64_MAX;
  const TimeNs late = late_join_ ? late_join_->wake_at() : INT64_MAX;
  const TimeNs wake = std::min({finish, late, search_->wake_at(), mine_->router.wake_at()});
  if (wake != INT64_MAX) {
    const TimeNs left = std::max<TimeNs>(wake - monotonic_now(), 0);
    sleep_ns = sleep_ns < 0 ? left : std::min(sleep_ns, left);
  }
  fds_.clear();
  fds_.push_back({bell_.fd(), POLLIN, 0});
  mine_->router.add_poll_fds(fds_);
  const auto control_fds = static_cast<std::ptrdiff_t>(fds_.size());
  for (const int fd : admin_.wait_fds()) fds_.push_back({fd, POLLIN, 0});
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(sleep_ns / kSecond);
  limit.tv_nsec = static_cast<long>(sleep_ns % kSecond);
  const int ready = ::ppoll(fds_.data(), fds_.size(), sleep_ns < 0 ? nullptr : &limit, nullptr);
  const auto has_come = [](const pollfd& each) { return each.revents != 0; };
  control_due_ = ready < 0 || monotonic_now() >= wake ||
                 std::any_of(fds_.begin(), fds_.begin() + control_fds, has_come);
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::start(const JobFacts& job, ProcessId process,
                                            core::Admin& admin) {
  auto agent = std::make_unique<AgentThread>(job, MemberId{process, kStarted}, admin);
  auto started = agent->start();
  if (!started) return tl::unexpected(started.error());
  return agent;
}

}  // namespace livebtl::control
