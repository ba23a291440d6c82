// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/conversation.cc -- see conversation.h.
#include "hypervisor/vm/conversation.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kStopSeenAfter = 100 * kMillisecond;

}  // namespace

/// The program's input is a socket, to which one can write without SIGPIPE when its reader is gone.
Result<Conversation> Conversation::start(const std::vector<std::string>& words, AtTerminal place) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Errc::kSystem, std::string("no socket: ") + std::strerror(errno));
  Fd ours(ends[0]);
  // A program that does not read is as good as one that has ended.
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  if (::setsockopt(ours.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
    return fail(Errc::kSystem, std::string("no socket: ") + std::strerror(errno));
  const Fd theirs(ends[1]);
  auto output = make_pipe();
  auto errors = make_pipe();
  if (!output || !errors) return tl::unexpected((output ? errors : output).error());
  const auto child =
      spawn_program(words, theirs.number(), output->write.number(), errors->write.number(), place);
  if (!child) return tl::unexpected(child.error());
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *child, 0)));
  if (!process) {
    const int error = errno;
    ::kill(*child, SIGKILL);
    reap(*child);
    return fail(Errc::kSystem, std::string("a program cannot be watched: ") + std::strerror(error));
  }
  return Conversation(*child, std::move(process), std::move(ours), std::move(output->read),
                      std::move(errors->read));
}

Conversation::Conversation(pid_t child, Fd process, Fd input, Fd output, Fd errors)
    : child_(child),
      process_(std::move(process)),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

Conversation::~Conversation() {
  if (!process_) return;
  input_.reset();
  ::kill(child_, SIGKILL);
  reap(child_);
}

bool Conversation::read_more(const Deadline& deadline) {
  if (!output_ && !errors_) return false;
  const TimeNs left = deadline.at - monotonic_now();
  if (left <= 0 || deadline.stopped()) return false;
  pollfd ready[2] = {{output_.number(), POLLIN, 0}, {errors_.number(), POLLIN, 0}};
  const auto wait_ms = static_cast<int>(std::min(left, kStopSeenAfter) / kMillisecond + 1);
  if (::poll(ready, 2, wait_ms) <= 0) return true;
  if (ready[0].revents != 0 && !read_some(output_.number(), said_, kSaidBytesMax)) output_.reset();
  if (ready[1].revents != 0 && !read_some(errors_.number(), complaints_)) errors_.reset();
  return true;
}

Result<std::string> Conversation::read_line(const Deadline& deadline) {
  for (;;) {
    if (const auto end = said_.find('\n', searched_); end != std::string::npos) {
      std::string line = said_.substr(0, end);
      said_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = said_.size();
    if (searched_ >= kSaidBytesMax)
      return fail(Errc::kLimit, "it has said " + std::to_string(kSaidBytesMax >> 20) +
                                    " MiB without the end of a line; what is it that is run "
                                    "there? It has to be btlctl of this version");
    if (!output_) {
      while (errors_ && read_more(deadline)) {
      }
      return fail(Errc::kUnreachable, complaints_.empty() ? "it ended" : one_line(complaints_));
    }
    if (read_more(deadline)) continue;
    return deadline.stopped() ? fail(Errc::kCancelled, "interrupted")
                              : fail(Errc::kTimeout, "no answer in time");
  }
}

void Conversation::say(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; input_ && done < text.size();) {
    const ssize_t sent =
        ::send(input_.number(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return input_.reset();
    done += static_cast<std::size_t>(sent);
  }
}

Result<Finished> Conversation::finish(const Deadline& deadline) {
  input_.reset();
  while (read_more(deadline)) {
  }
  const bool ended = deadline.at == kNever || wait_for_child(child_, process_, deadline.at);
  if (!ended) ::kill(child_, SIGKILL);
  process_.reset();
  Finished finished{reap(child_), said_, complaints_};
  if (!ended) return fail(Errc::kTimeout, "it did not end in time");
  return finished;
}

}  // namespace livebtl::hypervisor
