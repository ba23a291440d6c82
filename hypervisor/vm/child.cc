// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/child.cc -- see child.h.
#include "hypervisor/vm/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

namespace livebtl::hypervisor {
namespace {

struct Unreaped {
  std::mutex mutex;
  std::vector<pid_t> children;
};
Unreaped& unreaped() {
  static Unreaped those;
  return those;
}

void reap_ended() {
  Unreaped& those = unreaped();
  const std::lock_guard lock(those.mutex);
  std::erase_if(those.children, [](pid_t child) {
    const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
    return ended == child || (ended < 0 && errno == ECHILD);
  });
}

/// Ignores SIGINT while a program is started: it inherits that, and shells and ssh leave it so, but
/// may clear a signal mask. SIGINT is blocked here meanwhile, so that a Ctrl-C is not dropped but
/// delivered afterwards.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() {
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &mask_before_);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, &before_);
  }
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;
  ~IgnoredInterrupt() {
    ::sigaction(SIGINT, &before_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

 private:
  sigset_t mask_before_{};
  struct sigaction before_ {};
};

/// A program that is kApart is in the terminal's background. Even there CRIU must be able to set
/// the terminal of processes that it restores (SIGTTOU would stop it), and asking for a password
/// must fail instead of waiting for nobody (SIGTTIN).
sigset_t blocked_signals(AtTerminal place) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  if (place == AtTerminal::kMayAsk) return blocked;
  ::sigaddset(&blocked, SIGTTIN);
  ::sigaddset(&blocked, SIGTTOU);
  return blocked;
}

void set_signals(posix_spawnattr_t& attributes, AtTerminal place) {
  const sigset_t blocked = blocked_signals(place);
  sigset_t as_usual;
  ::sigemptyset(&as_usual);
  ::sigaddset(&as_usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &blocked);
  ::posix_spawnattr_setsigdefault(&attributes, &as_usual);
  const int group = place == AtTerminal::kApart ? POSIX_SPAWN_SETPGROUP : 0;
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
}

/// The argument vector for exec.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Errc::kSystem, std::string("no pipe: ") + std::strerror(errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<pid_t> spawn_program(std::vector<std::string> words, int input, int output, int errors,
                            AtTerminal place) {
  reap_ended();
  const std::vector<char*> pointers = pointers_to(words);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0 || ::posix_spawnattr_init(&attributes) != 0)
    return fail(Errc::kNoMemory, "no memory to start " + words.front());
  if (input < 0) {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  set_signals(attributes, place);
  pid_t child = -1;
  std::optional<IgnoredInterrupt> ignored;
  if (place == AtTerminal::kMayAsk) ignored.emplace();
  const int error =
      ::posix_spawnp(&child, pointers.front(), &actions, &attributes, pointers.data(), environ);
  ignored.reset();
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(Errc::kNotFound, words.front() + " cannot be started: " + std::strerror(error));
  return child;
}

bool read_some(int fd, std::string& text, std::size_t bytes_max) {
  std::array<char, 4096> part{};
  const ssize_t count = ::read(fd, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  const std::size_t room = bytes_max - std::min(bytes_max, text.size());
  text.append(part.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

bool wait_for(const Fd& process, TimeNs until) {
  for (;;) {
    const TimeNs left = std::max<TimeNs>(0, until - monotonic_now());
    pollfd ended{process.number(), POLLIN, 0};
    const TimeNs step = std::min(left, 3600 * kSecond);
    const int count = ::poll(&ended, 1, static_cast<int>(step / kMillisecond + (left > 0 ? 1 : 0)));
    if (count > 0) return true;
    if (count == 0 && left == 0) return false;
  }
}

bool wait_for_child(pid_t child, const Fd& process, TimeNs until) {
  constexpr std::chrono::milliseconds kLook(10);
  if (process) return wait_for(process, until);
  for (;;) {
    siginfo_t ended{};
    const int looked =
        ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (looked == 0 && ended.si_pid == child) return true;
    if (monotonic_now() >= until) return false;
    std::this_thread::sleep_for(kLook);
  }
}

int reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void reap_later(pid_t child) {
  Unreaped& those = unreaped();
  const std::lock_guard lock(those.mutex);
  those.children.push_back(child);
}

}  // namespace livebtl::hypervisor
