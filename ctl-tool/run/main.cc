// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run/main.cc -- livebtl-run: chooses a door to livebtl for a launch line, sets what is needed, and becomes
// the launcher. One thread. docs/adr/0052 says why it execs.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "base/config_file.h"
#include "base/hex.h"
#include "base/secret.h"
#include "ctl-tool/complete.h"
#include "ctl-tool/run/announce.h"
#include "ctl-tool/run/run_line.h"
#include "ctl-tool/table.h"
#include "launch/plan.h"

namespace livebtl::tool {
namespace {

void complain_of(const std::string& text) {
  std::fprintf(stderr, "livebtl-run: %s\n", printable(text).c_str());
}

ExitCode exit_code_for(Errc code) {
  if (code == Errc::kNotFound) return ExitCode::kNotFound;
  return code == Errc::kUnsupported ? ExitCode::kRefused : ExitCode::kUsage;
}

ExitCode refuse(const Error& error) {
  complain_of(error.text);
  return exit_code_for(error.code);
}

/// Do the settings files say which transports to use?
Result<bool> files_name_transports() {
  const auto files = read_config_files(config_paths());
  if (!files) return tl::unexpected(files.error());
  return std::any_of(files->begin(), files->end(),
                     [](const Assignment& each) { return each.name == "TRANSPORTS"; });
}

Result<launch::Plan> plan_for(const RunLine& line) {
  const launch::RealSystem system;
  const auto named = files_name_transports();
  if (!named) return tl::unexpected(named.error());
  const std::string self = system.resolved("/proc/self/exe").value_or("");
  return launch::make_plan(system, launch::find_places(system, self, LIVEBTL_LIBRARY_FROM_PROGRAMS),
                           line.words, line.wishes, *named);
}

std::string new_seed() {
  std::string seed;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t part = random_u64();
    seed += hex_bytes(std::as_bytes(std::span(&part, 1)));
  }
  return seed;
}

ExitCode become(const launch::Plan& plan, bool quiet) {
  for (const auto& [name, value] : plan.variables) ::setenv(name.c_str(), value.c_str(), 1);
  if (plan.needs_seed) ::setenv("LIVEBTL_SEED", new_seed().c_str(), 1);
  if (!quiet) announce_job_of_this_process(plan.launcher.family != launch::Family::kSlurm);
  std::vector<std::string> words = plan.words;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(plan.launcher.path.c_str(), pointers.data());
  complain_of(plan.launcher.path + " cannot be started; try `" +
              launch::shell_quoted(plan.words.front()) + " --version`");
  return ExitCode::kNotFound;
}

ExitCode run(const RunLine& line) {
  const auto plan = plan_for(line);
  if (!plan) return refuse(plan.error());
  if (!line.show) return become(*plan, line.quiet);
  if (!plan->why_provider.empty()) complain_of("by the provider, as " + plan->why_provider);
  std::puts(as_shell_line(*plan).c_str());
  return ExitCode::kDone;
}

}  // namespace
}  // namespace livebtl::tool

int main(int argc, char** argv) try {
  using namespace livebtl::tool;
  if (argc > 1 && std::string_view(argv[1]) == "__complete")
    return static_cast<int>(print_completion({argv + 2, argv + argc}, true));
  const auto parsed = parse_run_line({argv + 1, argv + argc});
  livebtl::ExitCode code = livebtl::ExitCode::kUsage;
  if (const auto* end = std::get_if<EndNow>(&parsed)) {
    std::fputs(end->text.c_str(), end->exit_code == livebtl::ExitCode::kDone ? stdout : stderr);
    code = end->exit_code;
  } else {
    code = run(std::get<RunLine>(parsed));
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  std::fputs("livebtl-run: the answer could not be written; is the disk full?\n", stderr);
  return static_cast<int>(livebtl::ExitCode::kUsage);
} catch (const std::exception& error) {
  std::fprintf(stderr, "livebtl-run: cannot go on: %s\n", error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
