// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/child.h -- a program that is started, its pipes and its end: what program.h and conversation.h share.
// Any thread; owns the numbers of children that are to be reaped later.
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

inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();  // a time that does not come

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();

/// Ctrl-C at the terminal is for this process alone, which decides what becomes of the program.
enum class AtTerminal {
  kApart,   // in a process group of its own, which no key of the terminal reaches
  kMayAsk,  // in ours, as ssh has to be to ask for a password: it ignores Ctrl-C, but while it asks
};

/// By PATH, without a shell; input: -1: none. What this process blocks, and that it ignores SIGPIPE, is none of the
/// program's business.
/// Errors: kNotFound: it cannot be started.
Result<pid_t> spawn_program(std::vector<std::string> words, int input, int output, int errors,
                            AtTerminal place = AtTerminal::kApart);

inline constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;

/// Appends what is there, up to so many bytes in all; false: the other end is closed.
bool read_some(int fd, std::string& text, std::size_t bytes_max = kOutputBytesMax);

/// Until it has ended, by its descriptor: a number may be another process's by then.
bool wait_for(const Fd& process, TimeNs until);
/// ... that of a child, which is looked at again and again where there is no descriptor of it.
bool wait_for_child(pid_t child, const Fd& process, TimeNs until);

/// Waits for its end. Its exit code, or 128 and the signal.
int reap(pid_t child);
/// Of a child that cannot be ended, as it runs as another user: it is reaped once it has ended by itself, when a program is
/// started after that.
void reap_later(pid_t child);

}  // namespace livebtl::hypervisor
