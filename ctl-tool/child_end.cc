// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/child_end.cc -- see child_end.h.
#include "ctl-tool/child_end.h"

#include <sys/wait.h>

#include <cerrno>

namespace livebtl::tool {

std::optional<ExitCode> end_of_child(pid_t child) {
  int status = 0;
  pid_t ended = -1;
  // btlctl's handlers lack SA_RESTART: a waitpid() that Ctrl-C cuts short says nothing of the
  // child.
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || !WIFEXITED(status)) return std::nullopt;
  return static_cast<ExitCode>(WEXITSTATUS(status));
}

}  // namespace livebtl::tool
