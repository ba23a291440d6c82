// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/main.cc -- btlctl: signals, arguments and the exit code; the rest is in run.cc and what it
// calls.
#include <signal.h>

#include <cstdio>
#include <exception>

#include "ctl-tool/run.h"
#include "ctl-tool/say.h"

namespace {

std::atomic<bool> stop_wanted{false};

void want_stop(int) { stop_wanted.store(true); }

void stop_on(int signal_number) {
  struct sigaction action {};
  action.sa_handler = want_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second Ctrl-C ends at once
  ::sigaction(signal_number, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) try {
  stop_on(SIGINT);
  stop_on(SIGTERM);
  const auto code = livebtl::tool::run({argv + 1, argv + argc}, stop_wanted);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  livebtl::tool::complain(
      "the answer could not be written; is the disk full, or standard output closed?");
  return static_cast<int>(code != livebtl::ExitCode::kDone ? code : livebtl::ExitCode::kUsage);
} catch (const std::exception& error) {
  livebtl::tool::complain(std::string("cannot go on: ") + error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
