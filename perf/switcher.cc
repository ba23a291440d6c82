// SPDX-License-Identifier: BSD-3-Clause
// perf/switcher.cc -- see switcher.h.
#include "perf/switcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/process_settings.h"
#include "base/secret.h"
#include "control/client/drive.h"

namespace livebtl::perf {
namespace {

constexpr TimeNs kSwitchTimeout = 30 * kSecond;
constexpr TimeNs kLookEvery = kMillisecond;

std::optional<std::string> environment_of(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

void sleep_for(TimeNs time) { std::this_thread::sleep_for(std::chrono::nanoseconds(time)); }

/// What runs in the process.
class SwitchProcess {
 public:
  SwitchProcess(SwitchBoard& board, std::string job, const std::vector<std::string>& transports,
                TimeNs every)
      : board_(board),
        job_(std::move(job)),
        on_(transports[1]),
        off_(transports[0]),
        every_(every) {}

  void run() {
    for (bool well = true; well;) {
      const std::uint32_t wish = board_.wish.load();
      board_.heard.store(wish);
      if (wish == SwitchBoard::kEnd) return;
      if (wish == SwitchBoard::kRest) {
        sleep_for(kLookEvery);
        continue;
      }
      well = switch_once();
      if (wish == SwitchBoard::kOnce) board_.wish.store(SwitchBoard::kRest);
      for (TimeNs left = every_; left > 0 && board_.wish.load() == SwitchBoard::kAgain;
           left -= kLookEvery)
        sleep_for(std::min(left, kLookEvery));
    }
  }

 private:
  bool fail_with(const std::string& text) {
    std::strncpy(board_.problem, text.c_str(), sizeof board_.problem - 1);
    board_.failed.store(true);
    return false;
  }

  bool find_links() {
    if (links_) return true;
    const SettingOrigin rundir = origin_of_run_directory().value_or(SettingOrigin{});
    for (auto& job : control::find_jobs(control::run_directories(rundir.value, environment_of))) {
      if (job.id == job_) links_.emplace(control::JobLinks::open(job));
    }
    return links_.has_value() || fail_with("the job cannot be found, to be switched");
  }

  control::Command command() const {
    control::Command command;
    command.job = job_;
    command.verb = "switch";
    command.arguments = {on_, off_};
    command.by = "btlperf";
    command.coordinator = random_u64() | 1;
    command.operation = random_u64() | 1;
    command.times = control::times_within(kSwitchTimeout);
    return command;
  }

  bool switch_once() {
    if (!find_links()) return false;
    board_.begun.fetch_add(1);
    const std::atomic<bool> never{false};
    const auto outcome = control::drive(*links_, command(), {}, never);
    if (!outcome || outcome->code != ExitCode::kDone)
      return fail_with("switch " + on_ + " " + off_ + ": " +
                       (outcome ? outcome->text : std::string("stopped")));
    // The first switch may find the pair on this transport already.
    if (outcome->pairs_left > 0)
      return fail_with("switch " + on_ + " " + off_ + ": a pair cannot use " + off_ +
                       "; `btlctl doctor` says what may be wrong");
    std::swap(on_, off_);
    board_.done.fetch_add(1);
    return true;
  }

  SwitchBoard& board_;
  const std::string job_;
  std::string on_, off_;
  const TimeNs every_;
  std::optional<control::JobLinks> links_;
};

}  // namespace

Result<std::unique_ptr<Switcher>> Switcher::start(const std::string& job,
                                                  const std::vector<std::string>& transports,
                                                  TimeNs every) {
  void* const page = ::mmap(nullptr, sizeof(SwitchBoard), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return fail(Errc::kSystem, std::string("no memory to share: ") + std::strerror(errno));
  auto* const board = new (page) SwitchBoard;
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0)
    return fail(Errc::kSystem, std::string("no process could be started: ") + std::strerror(errno));
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) SwitchProcess(*board, job, transports, every).run();
    ::_exit(0);
  }
  return std::unique_ptr<Switcher>(new Switcher(board, process));
}

void Switcher::look_for_its_end() const noexcept {
  siginfo_t how{};
  const int waited =
      ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT);
  if (waited != 0 || how.si_pid != process_ || board_->failed.load(std::memory_order_acquire))
    return;
  std::strcpy(board_->problem, "the process that switches has ended (killed?)");
  board_->failed.store(true);
}

Switcher::~Switcher() {
  // Something went wrong during a switch: the job ends, and nobody has to finish the switch.
  if (!rests()) ::kill(process_, SIGKILL);
  board_->wish.store(SwitchBoard::kEnd);
  ::waitpid(process_, nullptr, 0);
  ::munmap(board_, sizeof *board_);
}

}  // namespace livebtl::perf
