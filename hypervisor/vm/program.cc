// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/program.cc -- see program.h.
#include "hypervisor/vm/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;
constexpr TimeNs kLook = 100 * kMillisecond;  // how often a stop is looked for

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Errc::kSystem, std::string("no pipe: ") + std::strerror(errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// The signals that this process blocks are none of the program's business.
Result<pid_t> spawn(std::vector<std::string> words, int output, int errors) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0 || ::posix_spawnattr_init(&attributes) != 0)
    return fail(Errc::kNoMemory, "no memory to start " + words.front());
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, pointers.front(), &actions, &attributes, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(Errc::kNotFound, words.front() + " cannot be started: " + std::strerror(error));
  return child;
}

/// Appends what is there, up to the limit; false: the other end is closed.
bool read_some(int fd, std::string& text) {
  std::array<char, 4096> part{};
  const ssize_t count = ::read(fd, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  const std::size_t room = kOutputBytesMax - std::min(kOutputBytesMax, text.size());
  text.append(part.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

/// Until both are closed; false: the deadline came first.
bool read_both(Fd& output, Fd& errors, Finished& finished, const Deadline& deadline) {
  while (output || errors) {
    const TimeNs left = deadline.at - monotonic_now();
    if (left <= 0 || deadline.stopped()) return false;
    pollfd ready[2] = {{output.number(), POLLIN, 0}, {errors.number(), POLLIN, 0}};
    const auto wait_ms = static_cast<int>(std::min(left, kLook) / kMillisecond + 1);
    if (::poll(ready, 2, wait_ms) <= 0) continue;
    if (ready[0].revents != 0 && !read_some(output.number(), finished.output)) output.reset();
    if (ready[1].revents != 0 && !read_some(errors.number(), finished.errors)) errors.reset();
  }
  return true;
}

/// Until it has ended, by its descriptor: a number may be another process's by then.
bool wait_for(const Fd& process, TimeNs until) {
  for (;;) {
    const TimeNs left = std::max<TimeNs>(0, until - monotonic_now());
    pollfd ended{process.number(), POLLIN, 0};
    const int count = ::poll(&ended, 1, static_cast<int>(left / kMillisecond + (left > 0 ? 1 : 0)));
    if (count > 0) return true;
    if (count == 0 && left == 0) return false;
  }
}

int reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<Finished> run_program(const std::vector<std::string>& words, const Deadline& deadline,
                             TimeNs grace) {
  auto output = make_pipe();
  auto errors = make_pipe();
  if (!output || !errors) return tl::unexpected((output ? errors : output).error());
  const auto child = spawn(words, output->write.number(), errors->write.number());
  if (!child) return tl::unexpected(child.error());
  output->write.reset();
  errors->write.reset();
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *child, 0)));
  Finished finished;
  bool in_time = read_both(output->read, errors->read, finished, deadline);
  in_time = in_time && wait_for(process, deadline.at);
  if (!in_time) {
    ::kill(*child, SIGTERM);
    const TimeNs end = monotonic_now() + grace;
    read_both(output->read, errors->read, finished, {end, nullptr});
    if (!wait_for(process, end)) ::kill(*child, SIGKILL);
  }
  finished.code = reap(*child);
  if (in_time || finished.code < 128) return finished;
  return fail(Errc::kTimeout, words.front() + " did not end in time");
}

}  // namespace livebtl::hypervisor
