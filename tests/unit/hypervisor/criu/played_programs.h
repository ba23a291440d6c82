// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/criu/played_programs.h -- programs that play CRIU and btlctl: they record
// their calls, and fail where a test says so; and a process that plays a job. One thread; all of it
// goes with the object.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "hypervisor/criu/criu_job.h"

namespace livebtl::hypervisor {

// Files in the stage's directory control them: fail-NAME holds the exit code.
inline constexpr const char* kPlayedBtlctl = R"(#!/bin/sh
stage=$(dirname "$0")
whom=
while :; do
  case $1 in
  --json) shift ;;
  --timeout) shift 2 ;;
  --job | --user) whom="$whom$1 $2 "; shift 2 ;;
  *) break ;;
  esac
done
echo "$1 $2: $whom" >>"$stage/whom"
[ "$1 $2" != "checkpoint node" ] || exec "$stage/node"
[ "$5" != --relay ] || echo "$6" >>"$stage/relays"
echo "$1 $2 ${3#--*}" | sed 's/ $//' >>"$stage/calls"
code=0
[ ! -e "$stage/fail-$1-$2" ] || code=$(cat "$stage/fail-$1-$2")
echo "{\"exit_code\":$code,\"text\":\"$1 $2 says $code\",\"members\":2}"
exit "$code"
)";
inline constexpr const char* kPlayedCriu = R"sh(#!/bin/sh
stage=$(dirname "$0")
verb=$1
[ "$verb" = --version ] && exit 0
echo "criu $verb" >>"$stage/calls"
ends=yes
while [ $# -gt 0 ]; do
  case $1 in
  --tree) tree=$2 ;;
  --images-dir) images=$2 ;;
  --log-file) log=$2 ;;
  --action-script) script=$2 ;;
  --leave-running) ends= ;;
  esac
  shift
done
# As CRIU does: without an input, and into its log.
called() {
  CRTOOLS_SCRIPT_ACTION=$1 "$script" <&- >>"$images/$log" 2>&1
}
if [ -e "$stage/fail-criu-$verb" ]; then
  echo "(00.1) Error (criu/played.c:1): it was told to fail" >"$images/$log"
  exit 1
fi
if [ "$verb" = restore ]; then
  [ -z "$script" ] || called post-restore || exit 1
  cp "$images/pages.img" "$stage/restored"
  cp "$images/files.img" "$stage/restored-files"
  exit 0
fi
echo "pages of $tree" >"$images/pages.img"
if [ -e "$stage/files.img" ]; then
  cp "$stage/files.img" "$images"
else
  printf '\031CVT810V' >"$images/files.img"  # no file is open
fi
called pre-dump || exit 1
[ ! -e "$stage/slow-criu" ] || sleep "$(cat "$stage/slow-criu")"
called post-dump || exit 1
[ ! -e "$stage/fail-criu-end" ] || exit 1
[ -z "$ends" ] || kill -9 "$tree"
[ ! -e "$stage/kill-criu" ] || kill -9 $$
exit 0
)sh";

// One node's btlctl; NODE names the node. fail-NODE holds what it answers instead of being ready,
// link-NODE its connections; lost-NODE: it ends when told to go; slow-NODE: seconds until it is
// ready; job-NODE: whose processes it has, if not a-job's; relay-NODE: where it says that its relay
// listens.
inline constexpr const char* kPlayedNode = R"sh(#!/bin/sh
stage=$(dirname "$0")
node=${NODE:-vm1}
read -r order
echo "$order" >"$stage/order-$node"
answer() {
  links=$(cat "$stage/link-$node" 2>/dev/null)
  job=$(cat "$stage/job-$node" 2>/dev/null || echo a-job)
  printf '{"schema":"livebtl.node/1","exit_code":%s,"text":"%s says %s","members":1,' "$1" "$node" "$1"
  printf '"job":"%s","owner":%s,"relay":"%s",' "$job" "$(id -u)" "$(cat "$stage/relay-$node" 2>/dev/null)"
  printf '"bytes":7,"crc32c":9,"connections":[%s]}\n' "$links"
}
if [ -e "$stage/fail-$node" ]; then
  answer "$(cat "$stage/fail-$node")"
  exit 1
fi
[ ! -e "$stage/slow-$node" ] || sleep "$(cat "$stage/slow-$node")"
answer 0
read -r word || word='given up'
echo "$word" >>"$stage/told-$node"
[ "$word" = go ] || exit 5
[ ! -e "$stage/lost-$node" ] || exit 1
answer 0
read -r word || word=left
echo "$word" >>"$stage/told-$node"
)sh";

class Stage {
 public:
  Stage() {
    std::string name = "/tmp/livebtl-criu-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    directory_ = name;
    put("btlctl", kPlayedBtlctl, 0700);
    put("criu", kPlayedCriu, 0700);
    put("node", kPlayedNode, 0700);
    REQUIRE(::mkdir((directory_ + "/job").c_str(), 0700) == 0);
    put("job/card", "a card", 0600);
    job_ = ::fork();
    REQUIRE(job_ >= 0);
    if (job_ == 0) {
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    end_job();
    std::filesystem::remove_all(directory_);
  }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
  void put(const std::string& name, const std::string& text, mode_t mode) const {
    std::ofstream(path(name)) << text;
    REQUIRE(::chmod(path(name).c_str(), mode) == 0);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// What was called since the last time, one call a line.
  std::string calls() const {
    std::string all = text("calls");
    std::filesystem::remove(path("calls"));
    return all;
  }

  pid_t job() const { return job_; }
  bool job_lives() const {
    return job_ > 0 && ::kill(job_, 0) == 0 && ::waitpid(job_, nullptr, WNOHANG) == 0;
  }
  /// Waits up to 10 s for its end: the kernel takes its time over a killed process.
  bool job_ends() {
    const TimeNs until = monotonic_now() + 10 * kSecond;
    while (job_ > 0 && ::waitpid(job_, nullptr, WNOHANG) == 0) {
      if (monotonic_now() > until) return false;
      ::usleep(1'000);
    }
    job_ = -1;
    return true;
  }
  void end_job() {
    if (job_ <= 0) return;
    ::kill(job_, SIGKILL);
    ::waitpid(job_, nullptr, 0);
    job_ = -1;
  }

  CriuRequest request(const std::string& set = "set") const {
    CriuRequest request;
    request.directory = path(set);
    request.node = "vm1";
    request.criu = path("criu");
    request.job = {path("btlctl"), ""};
    request.lease = 600 * kSecond;
    request.timeout = 600 * kSecond;
    request.find_job = [this] { return Result<JobHere>(job_here()); };
    request.set_clock = [](std::int64_t) { return Status{}; };
    request.still_relay = [] { return Result<Fd>(Fd()); };
    return request;
  }
  JobHere job_here() const { return {"a-job", path("job"), {job_}, false, false, ::geteuid()}; }
  /// For each call of btlctl, its verb and the words that say which job it is for.
  std::vector<std::string> told_whom() const {
    std::ifstream file(path("whom"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  Report dump(const CriuRequest& request) const {
    const std::atomic<bool> stop{false};
    return dump_job(request, stop, [](const std::string&) {});
  }
  Report restart(const CriuRequest& request) const {
    const std::atomic<bool> stop{false};
    return restart_job(request, stop, [](const std::string&) {});
  }

 private:
  std::string directory_;
  pid_t job_ = -1;
};

/// A job on two played nodes: vm1, the caller's, and vm2.
inline CriuRequest on_two_nodes(const Stage& stage) {
  CriuRequest request = stage.request();
  request.node_command = "env NODE={node}";
  request.find_nodes = [] { return Result<std::vector<std::string>>({"vm1", "vm2"}); };
  return request;
}

}  // namespace livebtl::hypervisor
