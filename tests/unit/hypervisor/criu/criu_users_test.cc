// SPDX-License-Identifier: BSD-3-Clause
// Whose job is dumped when several users have jobs on the node, and whose processes never are.
#include <fcntl.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "base/fd.h"
#include "hypervisor/criu/node_side.h"
#include "hypervisor/criu/node_words.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/vm/child.h"
#include "tests/unit/hypervisor/criu/played_programs.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// Returns a node's answer to the order to dump, which it is then told to undo.
NodeAnswer asked_to_dump(const Stage& stage, const CriuRequest& tools) {
  NodeOrder order;
  order.directory = stage.path("set");
  order.node = "vm1";
  order.job = "a-job";
  order.hold = "0x1";
  order.lease_left_s = order.timeout_s = 600;
  std::deque<std::string> lines = {order_line(order), kUndo};
  std::vector<NodeAnswer> answers;
  const auto hear = [&lines](TimeNs) {
    std::optional<std::string> line;
    if (lines.empty()) return line;
    line = lines.front();
    lines.pop_front();
    return line;
  };
  const auto say = [&answers](const std::string& line) {
    answers.push_back(read_node_answer(line).value_or(NodeAnswer{}));
  };
  CHECK(serve_node(tools, {hear, say}) == 5);
  REQUIRE(answers.size() == 1);
  return answers.front();
}

}  // namespace

TEST_CASE("a process of another user's is named, and neither dumped nor ended") {
  Stage stage;
  CriuRequest request = stage.request();
  JobHere here = stage.job_here();
  here.owner = ::geteuid() + 1;
  request.find_job = [&here] { return Result<JobHere>(here); };
  const Report report = stage.dump(request);
  CHECK(report.end.code == 3);
  CHECK_MESSAGE(report.end.text.find(" (" + std::to_string(stage.job()) + ") belongs to user " +
                                     std::to_string(::geteuid())) != std::string::npos,
                report.end.text);
  CHECK(stage.calls().empty());
  CHECK(stage.job_lives());
  CHECK(check_owner({stage.job()}, ::geteuid()));
}

TEST_CASE("every order is for the job that was found, by its id and its user") {
  Stage stage;
  CriuRequest request = stage.request();
  request.job.user = "named";
  REQUIRE(stage.dump(request).end.code == 0);
  stage.end_job();
  REQUIRE(stage.restart(stage.request()).end.code == 0);
  const std::string whom = ": --job a-job --user " + std::to_string(::geteuid()) + " ";
  CHECK(stage.told_whom() == std::vector<std::string>{"checkpoint prepare" + whom,
                                                      "checkpoint prepare" + whom,
                                                      "hold start" + whom, "job restored" + whom,
                                                      "checkpoint return" + whom});
}

TEST_CASE(
    "what a process has open is dumped if it is the job's user's, and not if it is another's") {
  const Stage stage;
  stage.put("job/open", "", 0644);
  const Fd own(::open(stage.path("job/open").c_str(), O_RDONLY | O_CLOEXEC));
  stage.put("open", "", 0644);
  const Fd other(::open(stage.path("open").c_str(), O_RDONLY | O_CLOEXEC));
  const auto is_listed = [&stage](const char* file, uid_t owner) {
    const auto all = passing_files({::getpid()}, stage.path("job"), owner);
    return std::find(all.begin(), all.end(), stage.path(file)) != all.end();
  };
  CHECK(is_listed("open", ::geteuid()));
  CHECK(is_listed("job/card", ::geteuid()));
  CHECK_FALSE(is_listed("open", ::geteuid() + 1));
  CHECK_FALSE(is_listed("job/card", ::geteuid() + 1));
  if (::geteuid() != 0) return;  // two users: needs root
  REQUIRE(::chown(stage.path("open").c_str(), 12345, 12345) == 0);
  REQUIRE(::chown(stage.path("job/open").c_str(), 12345, 12345) == 0);
  CHECK_FALSE(is_listed("open", 0));
  CHECK_FALSE(is_listed("job/open", 0));
  CHECK(is_listed("job/card", 0));
}

TEST_CASE(
    "a process of another user's below the job, that came late, keeps CRIU from being called") {
  if (::geteuid() != 0) return;  // two users: needs root
  Stage stage;
  CriuRequest tools = stage.request();
  JobHere here = stage.job_here();
  here.members = {::getpid()};
  tools.find_job = [&here] { return Result<JobHere>(here); };
  pid_t late = -1;
  tools.still_relay = [&late]() -> Result<Fd> {
    late = ::fork();
    if (late == 0 && ::setuid(12345) == 0) ::pause();
    if (late == 0) ::_exit(1);
    while (late > 0 && owner_of(late) != 12345) ::usleep(1'000);
    return Fd();
  };
  const NodeAnswer answer = asked_to_dump(stage, tools);
  REQUIRE(late > 0);
  ::kill(late, SIGKILL);
  ::waitpid(late, nullptr, 0);
  CHECK(answer.code == 3);
  CHECK_MESSAGE(
      answer.text.find("(" + std::to_string(late) + ") belongs to user 12345") != std::string::npos,
      answer.text);
  CHECK(stage.calls().empty());
}

TEST_CASE("restored processes are killed as long as they are the same, and the user's") {
  const auto child = spawn_program({"sleep", "600"}, -1, 1, 2);
  REQUIRE(child);
  const auto known = known_processes({*child});
  REQUIRE(known.size() == 1);
  const auto lives = [&child] { return !wait_for_child(*child, Fd(), monotonic_now()); };
  kill_known({{*child, known.front().start + 1}},
             ::geteuid());  // the number is another process's by now
  kill_known(known, ::geteuid() + 1);
  CHECK(lives());
  kill_known(known, ::geteuid());
  CHECK(reap(*child) == 128 + SIGKILL);
  CHECK(known_processes({*child}).empty());
  kill_known(known, ::geteuid());
}
