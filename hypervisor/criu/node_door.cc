// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_door.cc -- see node_door.h.
#include "hypervisor/criu/node_door.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

#include "hypervisor/criu/node_words.h"
#include "hypervisor/vm/child.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kLongestPoll = 60 * kSecond;
constexpr TimeNs kReadsWithin = 60 * kSecond;  // for the caller to read what it is told

/// Reads line by line. A caller whose machine has lost power, or its network, never closes its end.
class HeardLines {
 public:
  explicit HeardLines(int input) : input_(input) {}

  std::optional<std::string> next(TimeNs until) {
    for (;;) {
      if (const auto end = heard_.find('\n'); end != std::string::npos) {
        std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      if (heard_.size() >= kNodeLineBytesMax || !read_more(until)) return std::nullopt;
    }
  }

 private:
  /// false: it is too late, or the other end is closed.
  bool read_more(TimeNs until) {
    const TimeNs left = until - monotonic_now();
    if (left <= 0) return false;
    pollfd ready{input_, POLLIN, 0};
    const auto wait_ms = static_cast<int>(std::min(left, kLongestPoll) / kMillisecond + 1);
    return ::poll(&ready, 1, wait_ms) <= 0 || read_some(input_, heard_, kNodeLineBytesMax);
  }

  int input_;
  std::string heard_;
};

/// A caller that does not read is gone, as the next hear() will tell. When poll() reports room,
/// there is room for PIPE_BUF bytes, so that no write blocks.
void write_line(int output, const std::string& text) {
  const std::string line = text + "\n";
  const TimeNs until = monotonic_now() + kReadsWithin;
  for (std::size_t done = 0; done < line.size() && monotonic_now() < until;) {
    pollfd ready{output, POLLOUT, 0};
    if (::poll(&ready, 1, static_cast<int>(kSecond / kMillisecond)) <= 0) continue;
    const std::size_t part = std::min<std::size_t>(PIPE_BUF, line.size() - done);
    const ssize_t count = ::write(output, line.data() + done, part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace

NodeDoor node_door(int input, int output) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto lines = std::make_shared<HeardLines>(input);
  return {[lines](TimeNs within) { return lines->next(monotonic_now() + within); },
          [output](const std::string& text) { write_line(output, text); }};
}

}  // namespace livebtl::hypervisor
