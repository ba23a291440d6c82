// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/tool/btlctl_test.cc -- the program itself against processes with real agents and fake
// engines.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "../control/scratch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "control/directory.h"

using namespace livebtl;
using livebtl::test::Scratch;
using Json = nlohmann::json;

namespace {

/// A child process with its three streams.
class Child {
 public:
  Child(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    int to[2], from[2], fails[2];
    REQUIRE(::pipe2(to, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(from, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(fails, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::dup2(fails[1], 2);
      execute(command, environment);
    }
    for (const int fd : {to[0], from[1], fails[1]}) ::close(fd);
    in_ = Fd(to[1]);
    out_ = Fd(from[0]);
    err_ = Fd(fails[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  std::string line() { return read_line(out_); }
  std::string error_line() { return read_line(err_); }
  std::string say(const std::string& text) {
    REQUIRE(control::write_descriptor(in_.number(), text + "\n"));
    return line();
  }
  void signal(int number) const { ::kill(pid_, number); }
  /// Waits for its end. The exit code.
  int end() {
    in_.reset();
    out = control::read_descriptor(out_.number(), 1u << 20).value();
    err = control::read_descriptor(err_.number(), 1u << 20).value();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out, err;

 private:
  [[noreturn]] static void execute(const std::vector<std::string>& command,
                                   const std::vector<std::string>& environment) {
    std::vector<char*> arguments, variables;
    for (const auto& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
    for (const auto& text : environment) variables.push_back(const_cast<char*>(text.c_str()));
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  static std::string read_line(const Fd& fd) {
    std::string text;
    char c = 0;
    while (::read(fd.number(), &c, 1) == 1 && c != '\n') text += c;
    return text;
  }

  pid_t pid_ = -1;
  Fd in_, out_, err_;
};

struct Answer {
  int code;
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

class Node {
 public:
  std::unique_ptr<Child> member(int rank, const std::string& job = "job", int size = 2) {
    auto variables = environment();
    variables.push_back("LIVEBTL_JOB=" + job);
    variables.push_back("LIVEBTL_SIZE=" + std::to_string(size));
    auto child = std::make_unique<Child>(
        std::vector<std::string>{LIVEBTL_FAKE_MEMBER, std::to_string(rank)}, variables);
    REQUIRE(child->line() == "ready");
    return child;
  }
  std::unique_ptr<Child> start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), LIVEBTL_BTLCTL);
    return std::make_unique<Child>(arguments, environment());
  }
  Answer btlctl(std::vector<std::string> arguments) {
    auto child = start(std::move(arguments));
    const int code = child->end();
    return {code, child->out, child->err};
  }
  std::vector<std::string> environment() const {
    std::vector<std::string> variables{"LIVEBTL_RUNDIR=" + (scratch_ / "run"), "LIVEBTL_TCP_IF=lo",
                                       "PATH=/usr/bin:/bin"};
    // What the build's sanitizers were told holds for the programs that we start too.
    for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
  }

 private:
  Scratch scratch_;
};

}  // namespace

TEST_CASE("without a job there is nothing to switch, and the text says what to do") {
  Node node;
  const auto answer = node.btlctl({"list"});
  CHECK(answer.code == 2);
  CHECK(answer.out.empty());
  CHECK(answer.err.find("LIVEBTL_RUNDIR") != std::string::npos);
  CHECK(node.btlctl({"jobs"}).code == 0);
  CHECK(node.btlctl({"--json", "jobs"}).json()["jobs"].empty());
}

TEST_CASE("a job alone on its node needs no name") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto jobs = node.btlctl({"--json", "jobs"}).json();
  CHECK(jobs["schema"] == "livebtl.jobs/1");
  CHECK(jobs["jobs"][0]["members"].size() == 2);
  const auto answer = node.btlctl({"--json", "switch", "sm", "tcp"});
  CHECK(answer.code == 0);
  CHECK(answer.json()["schema"] == "livebtl.outcome/1");
  CHECK(answer.json()["exit_code"] == 0);
  CHECK(answer.json()["released"] == false);
  CHECK(answer.err.find("joint 0/2") != std::string::npos);
  CHECK(node.btlctl({"--json", "switch", "vader", "tcp"}).json()["already"] == true);
  CHECK(node.btlctl({"--quiet", "remove", "sm"}).err.empty());
}

TEST_CASE("of two jobs one must be named") {
  Node node;
  const auto one = node.member(0, "a", 1), two = node.member(0, "b", 1);
  const auto answer = node.btlctl({"list"});
  CHECK(answer.code == 1);
  CHECK(answer.err.find("--job a") != std::string::npos);
  CHECK(node.btlctl({"--job", "a", "list"}).code == 0);
  CHECK(node.btlctl({"--job", "c", "switch", "sm", "tcp"}).code == 2);
}

TEST_CASE("list and status show every process") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto list = node.btlctl({"list"});
  CHECK(list.code == 0);
  CHECK(list.out.find("sm (vader)") != std::string::npos);
  const auto status = node.btlctl({"--json", "status", "--peers"}).json();
  REQUIRE(status["members"].size() == 2);
  CHECK(status["members"][0]["rung"] == "old");
  CHECK(status["members"][1]["rank"] == 1);
  CHECK(status["members"][1]["engine"]["peers"].size() == 3);
  CHECK(node.btlctl({"status", "--peers"}).out.find("peer 2") != std::string::npos);
}

TEST_CASE("a stopped process is named and makes the tool neither hang nor lie") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  two->signal(SIGSTOP);
  const auto status = node.btlctl({"--timeout", "2", "status"});
  CHECK(status.code == 10);
  CHECK(status.out.find("rank 0") != std::string::npos);
  CHECK(status.err.find("rank 1") != std::string::npos);
  const auto change = node.btlctl({"--timeout", "2", "switch", "sm", "tcp"});
  CHECK(change.code == 5);
  CHECK(change.err.find("rank 1") != std::string::npos);
  two->signal(SIGCONT);
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);
}

TEST_CASE("exit codes: refused, unknown, missing") {
  Node node;
  const auto one = node.member(0);
  CHECK(node.btlctl({"--timeout", "2", "switch", "sm", "tcp"}).code == 10);
  const auto two = node.member(1);
  CHECK(node.btlctl({"remove", "pigeon"}).code == 2);
  CHECK(two->say("refuse joint") == "ok");
  const auto refused = node.btlctl({"switch", "sm", "tcp"});
  CHECK(refused.code == 3);
  CHECK(refused.err.find("the test says no") != std::string::npos);
}

TEST_CASE("a killed btlctl is followed by resume, or by abort") {
  for (const char* verb : {"resume", "abort"}) {
    Node node;
    const auto one = node.member(0), two = node.member(1);
    CHECK(two->say("hold newtx") == "ok");
    const auto held = node.start({"switch", "sm", "tcp"});
    while (held->error_line() != "newtx 0/2") {
    }
    CHECK(node.btlctl({"remove", "tcp"}).code == 4);
    held->signal(SIGKILL);
    CHECK(two->say("release") == "ok");
    CHECK(node.btlctl({verb}).code == 0);
    const auto status = node.btlctl({"--json", "status"}).json();
    for (const auto& member : status["members"]) {
      CHECK(member["rung"] == (std::string(verb) == "resume" ? "new" : "old"));
    }
  }
}

TEST_CASE("Ctrl-C says how to go on") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  const auto held = node.start({"switch", "sm", "tcp"});
  while (held->error_line() != "newtx 0/2") {
  }
  held->signal(SIGINT);
  CHECK(held->end() == 130);
  CHECK(held->err.find("btlctl resume") != std::string::npos);
  CHECK(two->say("release") == "ok");
  CHECK(node.btlctl({"abort"}).code == 0);
}

TEST_CASE("--no-wait goes on alone") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  CHECK(node.btlctl({"--no-wait", "switch", "sm", "tcp"}).code == 0);
  CHECK(node.btlctl({"remove", "tcp"}).code == 4);
  CHECK(two->say("release") == "ok");
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  std::string rung;
  while (rung != "new" && monotonic_now() < deadline) {
    rung = node.btlctl({"--json", "status"}).json()["members"][1]["rung"];
  }
  CHECK(rung == "new");
  CHECK(node.btlctl({"--no-wait", "remove", "pigeon"}).code == 2);
}

TEST_CASE("a dry run changes nothing") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto dry = node.btlctl({"--dry-run", "switch", "sm", "tcp"});
  CHECK(dry.code == 0);
  CHECK(dry.out.find("sm -> tcp: 1") != std::string::npos);
  CHECK(node.btlctl({"--json", "status"}).json()["members"][0]["rung"] == "old");
}

TEST_CASE("watch tells of a switch while it happens") {
  Node node;
  const auto one = node.member(0, "job", 1);
  const auto watch = node.start({"watch", "--interval", "0.05"});
  CHECK(watch->line().find("rank 0") != std::string::npos);  // joined
  CHECK(watch->line().find("old") != std::string::npos);
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);
  std::string line;
  while ((line = watch->line()).find("new of switch sm tcp") == std::string::npos) {
    REQUIRE_FALSE(line.empty());
  }
  watch->signal(SIGINT);
  CHECK(watch->end() == 0);
}

TEST_CASE("settings are listed with their defaults") {
  Node node;
  const auto settings = node.btlctl({"--json", "settings"}).json();
  CHECK(settings["schema"] == "livebtl.settings/1");
  bool found = false;
  for (const auto& setting : settings["settings"]) {
    found = found || setting["name"] == "LIVEBTL_WINDOW_BYTES";
  }
  CHECK(found);
}
