// SPDX-License-Identifier: BSD-3-Clause
// control/relay/main.cc -- livebtl-relay: started by members (control/agent/helper.h), never by
// people.
//
// usage: livebtl-relay relay DIRECTORY NODE JOB PORT [INTERFACE...]
//        livebtl-relay finish|finish-left-alone DIRECTORY NODE JOB MEMBER
// Threads: one here. Inherits nothing from the member but its user, its limits and a few variables.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "control/place/launcher.h"
#include "control/place/member_file.h"
#include "control/relay/finish.h"
#include "control/relay/relay.h"

namespace {

using namespace livebtl;
using namespace livebtl::control;

constexpr rlim_t kDescriptorsWanted = 16'384;

/// The member's thread that started this blocks all signals, and the member may ignore some.
void settle_signals() noexcept {
  sigset_t none;
  ::sigemptyset(&none);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(each, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void raise_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptorsWanted) return;
  limit.rlim_cur = std::min(kDescriptorsWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int usage() {
  constexpr std::string_view kText =
      "livebtl-relay is started by processes of a job that uses livebtl; see btlctl(1), WHICH "
      "JOB\n";
  return ::write(STDERR_FILENO, kText.data(), kText.size()) < 0 ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 5) return usage();
  const auto node = parse_process_name(words[2], "");
  if (!words[1].starts_with('/') || !node || !valid_job_id(words[3])) return usage();
  settle_signals();
  raise_limit();
  if (::chdir("/") != 0) return 1;
  const bool left_alone = words[0] == "finish-left-alone";
  if (left_alone || words[0] == "finish") {
    const auto member = parse_process_name(words[4], "");
    if (!member || words.size() != 5) return usage();
    return finish_ladder({words[1], words[2], words[3], *member, left_alone});
  }
  const auto port = parse_number<std::uint16_t>(words[4]);
  if (words[0] != "relay" || !port) return usage();
  return run_relay({words[1],
                    static_cast<std::uint64_t>(*node),
                    words[3],
                    *port,
                    {words.begin() + 5, words.end()}});
}
