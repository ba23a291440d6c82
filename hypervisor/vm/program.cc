// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/program.cc -- see program.h.
#include "hypervisor/vm/program.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "hypervisor/vm/child.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kLook = 100 * kMillisecond;  // how often to look for a stop

/// Reads until both are closed; false if the deadline comes first.
bool read_both(Fd& output, Fd& errors, Finished& finished, const Deadline& deadline,
               std::size_t output_max) {
  while (output || errors) {
    const TimeNs left = deadline.at - monotonic_now();
    if (left <= 0 || deadline.stopped()) return false;
    pollfd ready[2] = {{output.number(), POLLIN, 0}, {errors.number(), POLLIN, 0}};
    const auto wait_ms = static_cast<int>(std::min(left, kLook) / kMillisecond + 1);
    if (::poll(ready, 2, wait_ms) <= 0) continue;
    if (ready[0].revents != 0 && !read_some(output.number(), finished.output, output_max))
      output.reset();
    if (ready[1].revents != 0 && !read_some(errors.number(), finished.errors)) errors.reset();
  }
  return true;
}

}  // namespace

Result<Finished> run_program(const std::vector<std::string>& words, const Deadline& deadline,
                             TimeNs grace, std::size_t output_max) {
  auto output = make_pipe();
  auto errors = make_pipe();
  if (!output || !errors) return tl::unexpected((output ? errors : output).error());
  const auto child = spawn_program(words, -1, output->write.number(), errors->write.number());
  if (!child) return tl::unexpected(child.error());
  output->write.reset();
  errors->write.reset();
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *child, 0)));
  Finished finished;
  bool in_time = read_both(output->read, errors->read, finished, deadline, output_max);
  // Its outputs are closed; only its end is left to wait for.
  in_time = in_time && (deadline.at == kNever || wait_for_child(*child, process, deadline.at));
  if (!in_time) {
    ::kill(*child, SIGTERM);
    const TimeNs end = monotonic_now() + grace;
    read_both(output->read, errors->read, finished, {end, nullptr}, output_max);
    // A program that has changed its user, as sudo does, may not be killable: do not wait for it.
    if (!wait_for_child(*child, process, end) && ::kill(*child, SIGKILL) != 0) {
      reap_later(*child);
      return fail(Errc::kTimeout, words.front() +
                                      " did not end in time, and goes on: it runs as "
                                      "another user, and cannot be ended from here");
    }
  }
  finished.code = reap(*child);
  if (in_time || finished.code < 128) return finished;
  return fail(Errc::kTimeout, words.front() + " did not end in time");
}

}  // namespace livebtl::hypervisor
