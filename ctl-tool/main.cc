// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/main.cc -- btlctl from its arguments to its exit code. One thread.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "ctl-tool/command.h"
#include "ctl-tool/complete.h"
#include "ctl-tool/generate.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

std::atomic<bool> stop_wanted{false};

void want_stop(int) { stop_wanted.store(true); }

void stop_on(int signal_number) {
  struct sigaction action {};
  action.sa_handler = want_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C kills at once
  ::sigaction(signal_number, &action, nullptr);
}

/// If standard output is closed, our first socket would get its number and a member would be sent
/// what we print. /dev/null, opened for reading, refuses the writes, which is noticed as usual.
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

/// All of standard input, which is a file of docs/man.
std::string standard_input() {
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 1; count > 0; text.append(part.data(), count))
    count = std::fread(part.data(), 1, part.size(), stdin);
  return text;
}

ExitCode generate(const std::string& what) {
  const auto text = what == "page" ? filled_page(standard_input()) : settings_page();
  if (!text) complain(text.error().text);
  print(text.value_or(""));
  return text ? ExitCode::kDone : ExitCode::kUsage;
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool split = word == "-o" || word == "--output";
    if (word == "--json" || word == "-ojson" || word == "--output=json") return true;
    if (split && i + 1 < arguments.size() && arguments[i + 1] == "json") return true;
  }
  return false;
}

/// Parses, runs, and returns the exit code.
ExitCode run(std::vector<std::string> arguments, const std::atomic<bool>& stop) {
  // Programs want a document even if their command line cannot be read.
  const bool wants_json = asks_for_json(arguments);
  const char* const job = std::getenv("LIVEBTL_JOB");
  const char* const user = std::getenv("LIVEBTL_USER");
  const auto parsed = parse_command_line(std::move(arguments), job != nullptr ? job : "",
                                         user != nullptr ? user : "");
  if (const auto* end = std::get_if<EndNow>(&parsed)) return end_now(*end, wants_json);
  const auto& line = std::get<CommandLine>(parsed);
  if (line.generate.empty()) return line.definition->run(line, stop);
  return generate(line.generate);
}

}  // namespace
}  // namespace livebtl::tool

int main(int argc, char** argv) try {
  using namespace livebtl::tool;
  keep_standard_numbers();
  if (argc > 1 && std::string_view(argv[1]) == "__complete")
    return static_cast<int>(print_completion({argv + 2, argv + argc}, false));
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
