// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/child.h -- a child program's start, pipes and end: what program.h and
// conversation.h share. Any thread (kMayAsk: btlctl's one thread); owns the pids of children to be
// reaped later.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();  // a time that never comes

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();

/// Ctrl-C at the terminal is meant for this process alone, which decides what to do with the
/// program.
enum class AtTerminal {
  kApart,   // in its own process group, out of reach of the terminal's keys
  kMayAsk,  // in ours, so that ssh can ask for a password; ignores Ctrl-C except while it asks
};

/// Starts a program found in PATH, without a shell; `input`: -1 for none. The program inherits
/// neither our signal mask nor that we ignore SIGPIPE.
/// Errors: kNotFound: it cannot be started.
Result<pid_t> spawn_program(std::vector<std::string> words, int input, int output, int errors,
                            AtTerminal place = AtTerminal::kApart);

inline constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;

/// Appends what can be read, up to `bytes_max` in all; false at the end of input, or on an error.
bool read_some(int fd, std::string& text, std::size_t bytes_max = kOutputBytesMax);

/// Whether the process ends by `until`. By its descriptor, because a pid may be reused.
bool wait_for(const Fd& process, TimeNs until);
/// The same for a child, which is polled if there is no descriptor for it.
bool wait_for_child(pid_t child, const Fd& process, TimeNs until);

/// Waits for its end; returns its exit code, or 128 plus the signal.
int reap(pid_t child);
/// For a child that cannot be killed because it runs as another user: once it has ended by itself,
/// the next start of a program reaps it.
void reap_later(pid_t child);

}  // namespace livebtl::hypervisor
