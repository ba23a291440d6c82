// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/waiting_criu.cc -- see waiting_criu.h.
#include "hypervisor/criu/waiting_criu.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hypervisor/criu/criu_words.h"
#include "hypervisor/criu/node_words.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kLookedForReady = 50 * kMillisecond;

Result<Fd> make_named_pipe(const std::string& path, int mode) {
  if (::mkfifo(path.c_str(), 0600) == 0) {
    Fd made(::open(path.c_str(), mode | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (made) return made;
  }
  return fail(Errc::kSystem, path + " cannot be made: " + std::strerror(errno));
}

}  // namespace

WaitingCriu::~WaitingCriu() {
  if (started()) (void)finish(false);
}

/// Only this process writes to the pipe for the word: if it ends, the script reads the pipe's end.
Status WaitingCriu::start(const std::vector<std::string>& words, const std::string& images,
                          const Deadline& deadline) {
  auto ready = make_named_pipe(images + "/" + kReadyPipe, O_RDONLY);
  if (!ready) return tl::unexpected(ready.error());
  auto go = make_named_pipe(images + "/" + kGoPipe, O_RDWR);
  if (!go) return tl::unexpected(go.error());
  ready_ = std::move(*ready);
  go_ = std::move(*go);
  auto started = Conversation::start(words);
  if (!started) return tl::unexpected(started.error());
  program_.emplace(std::move(*started));
  while (!heard_ready()) {
    const TimeNs until = std::min(deadline.at, monotonic_now() + kLookedForReady);
    const auto line = program_->read_line({until, deadline.stop});
    const bool goes_on = line || line.error().code == Errc::kTimeout;
    if (!goes_on || monotonic_now() >= deadline.at)
      return line ? fail(Errc::kTimeout, "no answer in time") : tl::unexpected(line.error());
  }
  return {};
}

bool WaitingCriu::heard_ready() const {
  char byte = 0;
  return ::read(ready_.number(), &byte, 1) == 1;
}

Result<Finished> WaitingCriu::finish(bool goes) {
  const std::string word = std::string(kGo) + "\n";
  const auto size = static_cast<ssize_t>(word.size());
  const bool told = !goes || ::write(go_.number(), word.data(), word.size()) == size;
  go_.reset();
  auto finished = program_->finish({kNever, nullptr});
  program_.reset();
  ready_.reset();
  if (!told) return fail(Errc::kSystem, "CRIU's script could not be told to go");
  return finished;
}

}  // namespace livebtl::hypervisor
