// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/child.h -- a program that is started, its pipes and its end: what program.h and conversation.h share.
// Any thread; owns the numbers of children that are to be reaped later.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();

/// By PATH, without a shell; input: -1: none. The signals that this process blocks are none of the program's business.
/// Errors: kNotFound: it cannot be started.
Result<pid_t> spawn_program(std::vector<std::string> words, int input, int output, int errors);

inline constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;
/// Appends what is there, up to so much in all; false: the other end is closed.
bool read_some(int fd, std::string& text, std::size_t bytes_max = kOutputBytesMax);

/// Until it has ended, by its descriptor: a number may be another process's by then.
bool wait_for(const Fd& process, TimeNs until);

/// Its exit code, or 128 and the signal.
int reap(pid_t child);
/// Of a child that cannot be ended, as it runs as another user: it is reaped once it has ended by itself, when a program is
/// started after that.
void reap_later(pid_t child);

}  // namespace livebtl::hypervisor
