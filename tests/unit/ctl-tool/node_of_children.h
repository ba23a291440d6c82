// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/node_of_children.h -- btlctl and members of jobs as child processes, in a run
// directory of their own.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/fd.h"
#include "control/place/directory.h"
#include "tests/unit/control/agent/scratch.h"

namespace livebtl::test {

using Json = nlohmann::json;

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
  /// Waits until it has started a process of its own.
  void wait_child() const {
    const std::string id = std::to_string(pid_);
    std::string child;
    while (!(std::ifstream("/proc/" + id + "/task/" + id + "/children") >> child)) ::usleep(1'000);
  }
  /// Waits for its end. Returns the exit code.
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
  /// also: more variables, "NAME=value". more: arguments of fake_member after the rank.
  std::unique_ptr<Child> member(int rank, const std::string& job = "job", int size = 2,
                                const std::vector<std::string>& also = {},
                                const std::vector<std::string>& more = {}) {
    auto variables = environment();
    variables.insert(variables.end(), also.begin(), also.end());
    variables.push_back("LIVEBTL_JOB=" + job);
    variables.push_back("LIVEBTL_SIZE=" + std::to_string(size));
    std::vector<std::string> command{LIVEBTL_FAKE_MEMBER, std::to_string(rank)};
    command.insert(command.end(), more.begin(), more.end());
    auto child = std::make_unique<Child>(command, variables);
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
  /// Runs a script in which btlctl is the program under test.
  Answer shell(const std::string& script) {
    const std::string whole = std::string("btlctl() { ") + LIVEBTL_BTLCTL + " \"$@\"; }; " + script;
    Child child({"/bin/sh", "-c", whole}, environment());
    const int code = child.end();
    return {code, child.out, child.err};
  }
  std::string job_directory(const std::string& job) const { return (scratch_ / "run") + "/" + job; }
  std::vector<std::string> environment() const {
    std::vector<std::string> variables{"LIVEBTL_RUNDIR=" + (scratch_ / "run"), "LIVEBTL_TCP_IF=lo",
                                       "PATH=/usr/bin:/bin"};
    // The sanitizers' settings from the build also apply to the programs that we start.
    for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
  }

 private:
  Scratch scratch_;
};

}  // namespace livebtl::test
