// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/launcher_test.cc -- job facts from made-up environments.
#include "control/place/launcher.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <map>

using namespace livebtl;
using namespace livebtl::control;

namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

Lookup lookup_in(const Environment& environment) {
  return [&](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<LauncherFacts> facts_of(const Environment& environment, const Environment& at_start) {
  return read_launcher(lookup_in(environment), lookup_in(at_start),
                       [] { return std::string("4711-99"); });
}
Result<LauncherFacts> facts_of(const Environment& environment) {
  return facts_of(environment, environment);
}

const Environment kOmpiRank1 = {
    {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_SIZE", "4"},
    {"PMIX_NAMESPACE", "1909129217"},
    {"PMIX_RANK", "1"},
    {"OMPI_MCA_orte_precondition_transports", "2c0af7a1617fb41f-91fce5a0dfb64625"}};

}  // namespace

TEST_CASE("an empty environment is a job of one") {
  const auto facts = facts_of({});
  REQUIRE(facts);
  CHECK(facts->job.empty());
  CHECK(facts->announced == 1);
  CHECK(facts->rank == -1);
  CHECK(facts->seed.empty());
}

TEST_CASE("Open MPI names rank, size and a seed; the job id does not give the seed away") {
  const auto facts = facts_of(kOmpiRank1);
  REQUIRE(facts);
  CHECK(facts->rank == 1);
  CHECK(facts->announced == 4);
  CHECK(facts->place == "rank 1");
  CHECK(facts->seed == "2c0af7a1617fb41f-91fce5a0dfb64625");
  CHECK(valid_job_id(facts->job));
  CHECK(facts->job.find("2c0a") == std::string::npos);
}

TEST_CASE("a seed that Open MPI has made of the numbers of job and step is none") {
  Environment at_start = kOmpiRank1;
  at_start.erase("OMPI_MCA_orte_precondition_transports");
  SUBCASE("under a launcher with PMIx") {}
  SUBCASE("under one with PMI") {
    at_start.erase("PMIX_NAMESPACE");
    at_start["PMI_RANK"] = "1";
  }
  SUBCASE("in a step of Slurm's") {
    at_start.erase("PMIX_NAMESPACE");
    at_start["SLURM_STEP_ID"] = "0";
  }
  SUBCASE("in a step whose plugin for PMIx starts processes with one") {
    at_start = kOmpiRank1;
    at_start.erase("OMPI_COMM_WORLD_SIZE");
  }
  const auto facts = facts_of(kOmpiRank1, at_start);
  REQUIRE(facts);
  CHECK(facts->seed.empty());
  CHECK(facts->job == "pmix-1909129217");
}

TEST_CASE("the seed that a process without a launcher has made for its children is one") {
  const auto facts = facts_of(kOmpiRank1, {});
  REQUIRE(facts);
  CHECK(facts->seed == kOmpiRank1.at("OMPI_MCA_orte_precondition_transports"));
}

TEST_CASE("variables are found in the text of an environment") {
  using namespace std::string_view_literals;
  const auto text = "PATH=/bin\0EMPTY=\0PMI_RANK=3\0PMI_RANKS=4\0=odd\0no sign\0LAST=x"sv;
  CHECK(find_variable(text, "PATH") == "/bin");
  CHECK(find_variable(text, "EMPTY") == "");
  CHECK(find_variable(text, "PMI_RANK") == "3");
  CHECK(find_variable(text, "LAST") == "x");
  for (const char* missing : {"PMI", "ATH", "no sign", "RANK", "x"})
    CHECK(find_variable(text, missing) == std::nullopt);
  CHECK(find_variable("", "PATH") == std::nullopt);
}

TEST_CASE("a spawned process has its root's job and adds itself") {
  Environment child = kOmpiRank1;
  child["PMIX_NAMESPACE"] = "1909129218";
  child["OMPI_PARENT_PORT"] = "1909129217.0:846681992";
  const auto root = facts_of(kOmpiRank1);
  const auto spawned = facts_of(child);
  REQUIRE(root);
  REQUIRE(spawned);
  CHECK(spawned->job == root->job);
  CHECK(spawned->seed == root->seed);
  CHECK(spawned->announced == 0);
  CHECK(spawned->rank == -1);
  CHECK(spawned->place == "rank 1 of world 2");
}

TEST_CASE("that a process was spawned does not mean that the job is on several nodes") {
  Environment child = kOmpiRank1;
  child["OMPI_COMM_WORLD_LOCAL_SIZE"] = child["OMPI_COMM_WORLD_SIZE"];
  child["OMPI_PARENT_PORT"] = "1909129217.0:846681992";
  const auto spawned = facts_of(child);
  REQUIRE(spawned);
  CHECK(spawned->one_node);
}

TEST_CASE("another mpirun is another job") {
  Environment other = kOmpiRank1;
  other["OMPI_MCA_orte_precondition_transports"] = "2c0af7a1617fb41f-91fce5a0dfb64626";
  CHECK(facts_of(other)->job != facts_of(kOmpiRank1)->job);
}

TEST_CASE("a PMIx namespace without Open MPI's seed names the job up to its @") {
  const auto facts = facts_of({{"PMIX_NAMESPACE", "prterun-node-123@2"}});
  REQUIRE(facts);
  CHECK(facts->job == "pmix-prterun-node-123");
  CHECK(facts->seed.empty());
}

TEST_CASE("under srun with PMIx, Slurm says rank, size and whether there are several nodes") {
  Environment step = {{"PMIX_NAMESPACE", "slurm.pmix.7.0"},
                      {"PMIX_RANK", "2"},
                      {"SLURM_JOB_ID", "7"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "2"},
                      {"SLURM_STEP_NUM_TASKS", "4"},
                      {"SLURM_STEP_NUM_NODES", "2"}};
  const auto facts = facts_of(step);
  REQUIRE(facts);
  CHECK(facts->job == "pmix-slurm.pmix.7.0");
  CHECK(facts->announced == 4);
  CHECK(facts->rank == 2);
  CHECK_FALSE(facts->one_node);
  step["SLURM_STEP_NUM_NODES"] = "1";
  CHECK(facts_of(step)->one_node);
  step["SLURM_PROCID"] = "four";
  CHECK(facts_of(step).error().code == Errc::kInvalid);
  // mpirun in a batch job: its own variables count.
  step["OMPI_COMM_WORLD_RANK"] = "1";
  step["OMPI_COMM_WORLD_SIZE"] = "8";
  CHECK(facts_of(step)->announced == 8);
}

TEST_CASE("a namespace that is no valid id is replaced by a hash, equal on all ranks") {
  const Environment odd = {{"PMIX_NAMESPACE", "../../etc/passwd and more"}};
  const auto facts = facts_of(odd);
  REQUIRE(facts);
  CHECK(valid_job_id(facts->job));
  CHECK(facts->job == facts_of(odd)->job);
}

TEST_CASE("MPICH's ranks of one process manager are one job") {
  const auto facts = facts_of({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}});
  REQUIRE(facts);
  CHECK(facts->job == "pmi-4711-99");
  CHECK(facts->rank == 2);
  CHECK(facts->announced == 3);
}

TEST_CASE("MPICH's spawned processes have their parents' job, and not their ranks") {
  Environment child = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};
  child["PMI_SPAWNED"] = "0";
  const auto parent = facts_of(child);
  child["PMI_SPAWNED"] = "1";
  const auto spawned = facts_of(child);
  REQUIRE(parent);
  REQUIRE(spawned);
  CHECK(parent->rank == 0);
  CHECK(spawned->job == parent->job);
  CHECK(spawned->rank == -1);
  CHECK(spawned->announced == 0);
  CHECK(spawned->one_node);
  CHECK(spawned->place == "spawned rank 0");
}

TEST_CASE("a Slurm step is a job, a batch script's own process is not") {
  Environment step = {{"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
  CHECK(facts_of(step)->job.empty());
  CHECK(facts_of(step)->announced == 1);
  step["SLURM_STEP_ID"] = "3";
  step["SLURM_STEP_NUM_TASKS"] = "8";
  CHECK(facts_of(step)->job == "slurm-77.3");
  CHECK(facts_of(step)->announced == 8);
  step["SLURM_RESTART_COUNT"] = "0";
  CHECK(facts_of(step)->job == "slurm-77.3");
  step["SLURM_RESTART_COUNT"] = "2";  // requeued: another job with the same numbers
  CHECK(facts_of(step)->job == "slurm-77.3.r2");
}

TEST_CASE("malformed numbers are refused by name") {
  for (const char* bad : {"", "-1", "x", "1x", "99999999999999999999", "4"}) {
    Environment environment = kOmpiRank1;
    environment["OMPI_COMM_WORLD_RANK"] = bad;
    const auto facts = facts_of(environment);
    REQUIRE_FALSE(facts);
    CHECK(facts.error().code == Errc::kInvalid);
    CHECK(facts.error().text.find("OMPI_COMM_WORLD_RANK") != std::string::npos);
  }
}

TEST_CASE("a rank needs the size of its job") {
  Environment environment = kOmpiRank1;
  environment.erase("OMPI_COMM_WORLD_SIZE");
  const auto facts = facts_of(environment);
  REQUIRE_FALSE(facts);
  CHECK(facts.error().text.find("OMPI_COMM_WORLD_SIZE, which is not set") != std::string::npos);
}

TEST_CASE("job ids cannot leave the run directory") {
  CHECK(valid_job_id("a"));
  CHECK(valid_job_id("ompi-12ab_c.d"));
  for (const char* bad : {"", ".", "..", "a/b", "-a", ".a", "a b", "a\n"}) {
    CHECK_FALSE(valid_job_id(bad));
  }
  CHECK(valid_job_id(std::string(64, 'a')));
  CHECK_FALSE(valid_job_id(std::string(65, 'a')));
}

TEST_CASE("the process manager has a name that lasts while it lives") {
  CHECK(process_manager_id() == process_manager_id());
  CHECK_FALSE(process_manager_id().empty());
}
