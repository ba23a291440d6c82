// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/command_line_test.cc -- what is understood, what is refused, and what is
// derived from the definition.
#include "ctl-tool/command_line.h"
#include "base/exit_code.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/settings.h"
#include "ctl-tool/choose_job.h"

using namespace livebtl;
using namespace livebtl::tool;

namespace {

std::variant<CommandLine, EndNow> parse(std::vector<std::string> arguments,
                                        const std::string& job = "") {
  return parse_command_line(std::move(arguments), job);
}
CommandLine good(std::vector<std::string> arguments) {
  const auto parsed = parse(std::move(arguments));
  const auto* line = std::get_if<CommandLine>(&parsed);
  REQUIRE_MESSAGE(line != nullptr, std::get<EndNow>(parsed).text);
  return *line;
}
EndNow ended(std::vector<std::string> arguments) {
  const auto parsed = parse(std::move(arguments));
  REQUIRE(std::holds_alternative<EndNow>(parsed));
  return std::get<EndNow>(parsed);
}

control::JobPlace job_named(const std::string& id) { return {id, "/nowhere/" + id, 0, {}}; }

}  // namespace

TEST_CASE("commands and options stand in any order") {
  const auto before = good({"--json", "--timeout", "5", "switch", "sm", "tcp"});
  const auto after = good({"switch", "sm", "tcp", "--json", "--timeout=5"});
  for (const auto& line : {before, after}) {
    CHECK(line.command == "switch");
    CHECK(line.arguments == std::vector<std::string>{"sm", "tcp"});
    CHECK(line.json);
    CHECK(line.timeout_for_change() == 5 * kSecond);
  }
}

TEST_CASE("Open MPI's names are aliases") {
  CHECK(good({"switch", "openib", "vader"}).arguments == std::vector<std::string>{"verbs", "sm"});
  CHECK(good({"set", "vader", "weight=2"}).arguments == std::vector<std::string>{"sm", "weight=2"});
}

TEST_CASE("set takes one or two assignments") {
  CHECK(good({"set", "tcp", "weight=2", "exclusivity=7"}).arguments.size() == 3);
  CHECK(ended({"set", "tcp"}).exit_code == livebtl::ExitCode::kUsage);
  CHECK(ended({"set", "tcp", "weight=1", "weight=2", "weight=3"}).exit_code ==
        livebtl::ExitCode::kUsage);
}

TEST_CASE("waiting is the default") {
  CHECK_FALSE(good({"add", "sm"}).no_wait);
  CHECK_FALSE(good({"--wait", "add", "sm"}).no_wait);
  CHECK(good({"--no-wait", "add", "sm"}).no_wait);
}

TEST_CASE("the job may come from the environment, and the option wins") {
  CHECK(std::get<CommandLine>(parse({"list"}, "env")).job == "env");
  CHECK(std::get<CommandLine>(parse({"--job", "opt", "list"}, "env")).job == "opt");
}

TEST_CASE("a job outside is named by its relay and a file") {
  const auto line =
      good({"--connect", "[fd00::7]:40123", "--secret-file", "/tmp/s", "switch", "sm", "tcp"});
  CHECK(line.connect == "[fd00::7]:40123");
  CHECK(line.secret_file == "/tmp/s");
  CHECK(good({"--connect", "node7:40123", "list"}).secret_file.empty());
  CHECK(good({"secret", "vader"}).file == "vader");
  CHECK(good({"secret", "./-"}).file == "./-");
  const std::vector<std::vector<std::string>> wrong = {{"--connect", "node7", "list"},
                                                       {"--connect", "node7:0", "list"},
                                                       {"--connect", "fd00::7:1", "list"},
                                                       {"--connect", "[fd00::7:1", "list"},
                                                       {"--connect", "a:1,b:1", "list"},
                                                       {"--connect", "", "list"},
                                                       {"--secret-file", "s", "list"},
                                                       {"secret"},
                                                       {"secret", "-"},
                                                       {"secret", "a", "b"}};
  for (const auto& each : wrong) CHECK(ended(each).exit_code == livebtl::ExitCode::kUsage);
}

TEST_CASE("a file that node_exporter would not read is refused") {
  CHECK(ended({"metrics", "--textfile", "livebtl.txt"}).exit_code == livebtl::ExitCode::kUsage);
}

TEST_CASE("malformed command lines end with code 1 and a hint") {
  const std::vector<std::vector<std::string>> lines = {{},
                                                       {"fly"},
                                                       {"switch"},
                                                       {"switch", "sm"},
                                                       {"switch", "sm", "tcp", "verbs"},
                                                       {"add"},
                                                       {"add", "sm", "tcp"},
                                                       {"list", "sm"},
                                                       {"--timeout", "-1", "list"},
                                                       {"--timeout", "0", "list"},
                                                       {"--timeout", "x", "list"},
                                                       {"--timeout", "nan", "list"},
                                                       {"--timeout", "1e30", "list"},
                                                       {"--timeout"},
                                                       {"--job"},
                                                       {"--nonsense", "list"},
                                                       {"watch", "--interval", "0"},
                                                       {"--generate", "poems"},
                                                       {"list", "status"},
                                                       {"add", std::string(300, 'a')},
                                                       {"switch", "", "tcp"},
                                                       {"set", "tcp", "", "weight=2"},
                                                       {"set", "tcp", "weight=0"},
                                                       {"set", "tcp", "weight=-1"},
                                                       {"set", "tcp", "weight=1000001"},
                                                       {"set", "tcp", "weight=1", "weight=1"},
                                                       {"set", "tcp", "exclusivity=4294967296"},
                                                       {"set", "tcp", "exclusivity="},
                                                       {"set", "tcp", "latency=1"},
                                                       {"set", "sm", "single-copy=yes"},
                                                       {"--wait", "--no-wait", "add", "sm"},
                                                       {"--quiet", "--progress", "add", "sm"},
                                                       {"--job", "", "list"},
                                                       {"--job", std::string(300, 'a'), "list"},
                                                       {std::string("\0\xff", 2)}};
  for (const auto& line : lines) {
    const auto end = ended(line);
    CHECK(end.exit_code == livebtl::ExitCode::kUsage);
    CHECK(end.text.ends_with("--help\n"));  // which command's help: see the next test
  }
}

TEST_CASE("a wrong line names the help of the command that it was meant for") {
  CHECK(ended({"nonsense"}).text.ends_with("\nTry: btlctl --help\n"));
  CHECK(ended({"switch", "tcp"}).text.ends_with("\nTry: btlctl switch --help\n"));
  CHECK(ended({"vm", "migrate", "--nonsense"}).text.ends_with("\nTry: btlctl vm migrate --help\n"));
  CHECK(ended({"switch", "sm", "tcp", "--job", std::string(300, 'a')})
            .text.ends_with("\nTry: btlctl switch --help\n"));
}

TEST_CASE("of an unknown word the nearest known one is suggested, and nothing raw is echoed") {
  CHECK(ended({"swich", "sm", "tcp"}).text.find("'swich'; did you mean switch?") !=
        std::string::npos);
  CHECK(ended({"--json", "stauts"}).text.find("did you mean status?") != std::string::npos);
  CHECK(ended({"--timout=5", "list"}).text.find("'--timout'; did you mean --timeout?") !=
        std::string::npos);
  CHECK(ended({"status", "--pers"}).text.find("did you mean --peers?") != std::string::npos);
  const auto far = ended({"fly"}).text;
  CHECK(far.find("there is no command 'fly'\n") != std::string::npos);
  for (const std::string& raw : {std::string("f\033[2Jy"), std::string("--\x07\n")}) {
    for (const auto& line : {std::vector<std::string>{raw},
                             {"list", raw},
                             {"--timeout", raw},
                             {"switch", "sm", "tcp", raw},
                             {"set", "tcp", raw}}) {
      const std::string text = ended(line).text;
      CHECK(text.find_first_of("\033\x07") == std::string::npos);
      CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    }
  }
}

TEST_CASE("help teaches, by example, with the exit codes") {
  const auto help = ended({"--help"});
  CHECK(help.exit_code == livebtl::ExitCode::kDone);
  CHECK(help.text.find("btlctl switch sm tcp") != std::string::npos);
  for (const auto& entry : kExitCodes) {
    CHECK(help.text.find(entry.meaning) != std::string::npos);
  }
  for (const char* command : {"jobs", "list", "status", "add", "quiesce", "remove", "switch", "set",
                              "abort", "resume", "watch", "settings", "secret"}) {
    const auto one = ended({command, "--help"});
    CHECK(one.exit_code == livebtl::ExitCode::kDone);
    CHECK(one.text.find("Example") != std::string::npos);
  }
  CHECK(ended({"--version"}).text.starts_with("btlctl "));
}

TEST_CASE("of several jobs one must be named, and the names are given") {
  CHECK(choose_job({job_named("a")}, "")->id == "a");
  CHECK(choose_job({job_named("a"), job_named("b")}, "b")->id == "b");
  const auto several = choose_job({job_named("a"), job_named("b")}, "");
  REQUIRE_FALSE(several);
  CHECK(several.error().code == ExitCode::kUsage);
  CHECK(several.error().text.find("--job b") != std::string::npos);
  CHECK(choose_job({}, "").error().code == ExitCode::kNotFound);
  CHECK(choose_job({job_named("a")}, "c").error().code == ExitCode::kNotFound);
  CHECK(choose_job({job_named("a"), job_named("a")}, "a").error().code == ExitCode::kUsage);
}

TEST_CASE("a command is for one user's jobs, and another user changes nothing about whose") {
  const auto of = [](const char* id, uid_t owner) {
    auto job = job_named(id);
    job.owner = owner;
    return job;
  };
  constexpr uid_t kSelf = 0, kAlice = 1000, kMallory = 1001;
  const auto owner_of = [](const auto& jobs) {
    REQUIRE(jobs);
    REQUIRE(jobs->size() == 1);
    return jobs->front().owner;
  };
  CHECK(owner_of(of_one_user({of("a", kSelf)}, "", kSelf)) == kSelf);
  CHECK(owner_of(of_one_user({of("a", kSelf), of("a", kMallory)}, "", kSelf)) == kSelf);
  CHECK(owner_of(of_one_user({of("a", kSelf), of("a", kMallory)}, "a", kSelf)) == kSelf);
  CHECK(owner_of(of_one_user({of("a", kAlice)}, "", kSelf)) == kAlice);
  CHECK(owner_of(of_one_user({of("a", kAlice), of("b", kMallory)}, "a", kSelf)) == kAlice);
  const auto several = of_one_user({of("a", kAlice), of("b", kMallory)}, "", kSelf);
  REQUIRE_FALSE(several);
  CHECK(several.error().code == ExitCode::kUsage);
  CHECK(several.error().text.find("--user " + user_name(kMallory)) != std::string::npos);
}

TEST_CASE("a user is given by name or number") {
  CHECK(*read_user("") == std::nullopt);
  CHECK(*read_user(std::to_string(::geteuid())) == ::geteuid());
  CHECK(*read_user(user_name(::geteuid())) == ::geteuid());
  CHECK(read_user("no such user").error().code == ExitCode::kNotFound);
  if (::geteuid() != 0) CHECK(read_user("0").error().code == ExitCode::kNotPermitted);
}
