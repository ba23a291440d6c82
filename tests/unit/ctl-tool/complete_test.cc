// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/complete_test.cc -- what a shell is offered for the word being typed.
#include "ctl-tool/complete.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ctl-tool/command.h"

using namespace livebtl;
using namespace livebtl::tool;

namespace {

using Words = std::vector<std::string>;
std::string asked_job, asked_user;  // of the last look
int looks = 0;

Seen some_seen(const std::string& job, const std::string& user) {
  ++looks;
  asked_job = job;
  asked_user = user;
  return {.jobs = {{"job-1"}, {"job-2"}},
          .users = {{"ann"}},
          .transports = {{"sm"}, {"tcp"}, {"ofi:tcp;ofi_rxm"}},
          .nodes = {{"n1", "this node"}, {"n2"}},
          .relays = {{"10.0.0.1:4000"}},
          .holds = {{"0x1f"}}};
}

Seen cards_seen(const std::string&, const std::string&) {
  Seen seen;
  seen.transports = {{"tcp"}, {"verbs:mlx5_0"}, {"verbs:mlx5_1"}, {"ofi"}, {"ofi:shm"}};
  return seen;
}

Words offered(const Words& words, LookAround look = some_seen) {
  Words names;
  for (const Candidate& each : complete(words, look).candidates) names.push_back(each.word);
  return names;
}

bool offers(const Words& words, const std::string& word) {
  const Words all = offered(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

Completion::Also also(const Words& words) { return complete(words, some_seen).also; }

}  // namespace

TEST_CASE("commands, actions and options are those of the parser") {
  CHECK(offered({""}).size() == std::size(kCommands));
  CHECK(offered({"sw"}) == Words{"switch"});
  CHECK(offered({"--json", "--timeout", "5", "hol"}) == Words{"hold"});
  CHECK(offered({"hold", ""}) == Words{"start", "renew", "check", "end"});
  CHECK(offered({"help", "che"}) == Words{"checkpoint"});
  CHECK(offers({"hold", "start", "--"}, "--lease"));
  CHECK(offers({"hold", "start", "--"}, "--timeout"));
  CHECK_FALSE(offers({"list", "--"}, "--lease"));
  CHECK_FALSE(offers({"vm", "restore", "--"}, "--lease"));  // accepted, but hidden
  CHECK(offered({"-o", ""}) == Words{"text", "wide", "json"});
  CHECK(offered({"--output=w"}) == Words{"--output=wide"});
  CHECK(offered({"no", "such", ""}) != Words{});
  CHECK(offered({}).size() == std::size(kCommands));
}

TEST_CASE("transports, nodes, jobs, users, relays and holds are those that are there") {
  CHECK(offered({"switch", ""}) == Words{"sm", "tcp", "ofi:tcp;ofi_rxm"});
  CHECK(offered({"switch", "sm", ""}) == Words{"tcp", "ofi:tcp;ofi_rxm"});
  CHECK(offered({"switch", "sm", "tcp", ""}).empty());
  CHECK(offered({"remove", "--scope", "node:"}) == Words{"node:n1", "node:n2"});
  CHECK(offered({"remove", "--scope=j"}) == Words{"--scope=job"});
  CHECK(offered({"--job", ""}) == Words{"job-1", "job-2"});
  CHECK(offered({"--user", "a"}) == Words{"ann"});
  CHECK(offered({"--connect", ""}) == Words{"10.0.0.1:4000"});
  CHECK(offered({"hold", "end", "--id", ""}) == Words{"0x1f"});
  CHECK(offered({"checkpoint", "prepare", "sm", "t"}) == Words{"tcp"});
}

TEST_CASE("of several transports of a family the word for all of them is offered, too") {
  CHECK(offered({"remove", ""}, cards_seen) ==
        Words{"tcp", "verbs", "verbs:mlx5_0", "verbs:mlx5_1", "ofi", "ofi:shm"});
  CHECK(complete({"add", "verbs"}, cards_seen).candidates.front() ==
        Candidate{"verbs", "all of verbs:mlx5_0, verbs:mlx5_1"});
  CHECK(offered({"switch", "verbs", "v"}, cards_seen) == Words{"verbs:mlx5_0", "verbs:mlx5_1"});
  CHECK(offered({"switch", "verbs:mlx5_0", "v"}, cards_seen) == Words{"verbs:mlx5_1"});
  CHECK(offered({"switch", "tcp", "v"}, cards_seen).size() == 3);
  CHECK(offered({"remove", "o"}) == Words{"ofi:tcp;ofi_rxm"});  // the only one of its family
}

TEST_CASE(
    "the job and the user that are named are asked for, and a job elsewhere is not looked for") {
  CHECK(offered({"--job", "job-2", "--user=ann", "add", ""}).size() == 3);
  CHECK(asked_job == "job-2");
  CHECK(asked_user == "ann");
  looks = 0;
  CHECK(offered({"--connect", "n7:1", "switch", ""}).empty());
  CHECK(offered({"--connect", "n7:1", "add", "--scope", ""}) == Words{"job"});
  CHECK(offered({"set", "sm", "e"}) == Words{"exclusivity="});
  CHECK(offered({"set", "sm", "s"}) == Words{"single-copy="});
  CHECK(offered({"hooks", "install", "q"}) == Words{"qemu-ga"});
  CHECK(looks == 0);
}

TEST_CASE("files, directories and launch lines are left to the shell") {
  CHECK(also({"secret", ""}) == Completion::Also::kFiles);
  CHECK(also({"--secret-file", ""}) == Completion::Also::kFiles);
  CHECK(also({"vm", "migrate", "--qmp="}) == Completion::Also::kFiles);
  CHECK(also({"hooks", "check", "--root", ""}) == Completion::Also::kDirectories);
  CHECK(also({"vm", "snapshot", ""}) == Completion::Also::kDirectories);
  CHECK(also({"doctor", "--", "mpi"}) == Completion::Also::kCommand);
  CHECK(offered({"doctor", ""}) == Words{"--"});
  CHECK(also({"list", ""}) == Completion::Also::kNothing);
}

TEST_CASE("livebtl-run offers its options and launchers, then a line of its own") {
  CHECK(complete_run({"--sh"}).candidates.front().word == "--show");
  CHECK(complete_run({"--door", "co"}).candidates.front().word == "component");
  CHECK(complete_run({"mpi"}).candidates.size() == 2);
  const auto line = complete_run({"--quiet", "mpirun", "-"});
  CHECK(line.candidates.empty());
  CHECK(line.also == Completion::Also::kCommand);
}

TEST_CASE("what is printed has a word a line, and its meaning on the same") {
  CHECK(completion_text({{{"sm", "two\nlines\x1b"}, {"tcp"}}, Completion::Also::kFiles}) ==
        "sm\ttwo?lines?\ntcp\n:files\n");
  CHECK(completion_text({}).empty());
}
