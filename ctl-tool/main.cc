// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/main.cc -- btlctl from its arguments to its exit code. One thread.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "ctl-tool/command.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

std::atomic<bool> stop_wanted{false};

void want_stop(int) { stop_wanted.store(true); }

void stop_on(int signal_number) {
  struct sigaction action {};
  action.sa_handler = want_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second Ctrl-C ends at once
  ::sigaction(signal_number, &action, nullptr);
}

/// Where standard output is closed our first socket would have its number, and a member be sent what is
/// printed. To /dev/null, opened to be read, nothing can be written, which is noticed as ever.
void keep_standard_numbers() {
  constexpr int kFirstOfOthers = 3;
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd < kFirstOfOthers) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

ExitCode end_now(const EndNow& end, bool wants_json) {
  std::fputs(end.text.c_str(), end.exit_code == ExitCode::kDone ? stdout : stderr);
  if (end.exit_code != ExitCode::kDone && wants_json) print_end({}, {end.exit_code, end.text});
  return end.exit_code;
}

std::string generated(const std::string& what) {
  if (what == "man") return manual_page();
  return what == "completion" ? completion() : settings_page();
}

/// Parses, does, and says what came of it.
ExitCode run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  // Programs want a document even if their command line cannot be read.
  const bool wants_json =
      std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const char* const job = std::getenv("LIVEBTL_JOB");
  const char* const user = std::getenv("LIVEBTL_USER");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "",
                                         user != nullptr ? user : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) return end_now(*end, wants_json);
  const auto& line = std::get<CommandLine>(parsed);
  if (line.generate.empty()) return line.definition->run(line, stop);
  print(generated(line.generate));
  return ExitCode::kDone;
}

}  // namespace
}  // namespace livebtl::tool

int main(int argc, char** argv) try {
  using namespace livebtl::tool;
  keep_standard_numbers();
  stop_on(SIGINT);
  stop_on(SIGTERM);
  const auto code = run({argv + 1, argv + argc}, stop_wanted);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  complain("the answer could not be written; is the disk full, or standard output closed?");
  return static_cast<int>(code != livebtl::ExitCode::kDone ? code : livebtl::ExitCode::kUsage);
} catch (const std::exception& error) {
  livebtl::tool::complain(std::string("cannot go on: ") + error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
