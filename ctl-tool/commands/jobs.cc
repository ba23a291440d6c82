// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/jobs.cc -- jobs: those of this node, or the one behind a relay.
#include "control/client/relay_address.h"
#include "ctl-tool/command.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::MemberEntry;

Json member_json(const control::MemberCard& card) {
  return {{"process", control::process_name(card.member.process)},
          {"incarnation", static_cast<std::uint32_t>(card.member.incarnation)},
          {"pid", card.mark.pid},
          {"rank", card.rank},
          {"name", card.name},
          {"host", card.host},
          {"node", card.node}};
}

std::uint32_t announced(const control::JobPlace& job) {
  std::uint32_t most = 0;
  for (const auto& card : job.members.live) most = std::max(most, card.announced);
  return most;
}

/// Where members of this node relay: what --connect takes.
std::vector<std::string> relays_of(const control::JobPlace& job) {
  for (const auto& card : job.members.live) {
    if (auto places = control::host_ports(card.relay); !places.empty()) return places;
  }
  return {};
}

/// The members, as their relays name them.
ExitCode show_job_behind_relay(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto links = open_job(line, 0, stop);
  if (!links) return end_early(line, links.error());
  Json members = Json::array();
  Table table({"JOB", "RANK>", "PROCESS"});
  for (const MemberEntry& member : links->found().live) {
    members.push_back({{"process", control::process_name(member.member.process)},
                       {"incarnation", static_cast<std::uint32_t>(member.member.incarnation)},
                       {"rank", member.rank},
                       {"name", member.name},
                       {"node", member.node}});
    table.add({links->job(), rank_text(member.rank), printable(member.name)});
  }
  print(line,
        {{"schema", "livebtl.jobs/1"},
         {"jobs", Json::array({{{"job", links->job()}, {"members", std::move(members)}}})}},
        table);
  return ExitCode::kDone;
}

Json jobs_json(const std::vector<control::JobPlace>& jobs) {
  Json document = {{"schema", "livebtl.jobs/1"}, {"jobs", Json::array()}};
  for (const auto& job : jobs) {
    Json members = Json::array();
    for (const auto& card : job.members.live) members.push_back(member_json(card));
    document["jobs"].push_back({{"job", job.id},
                                {"directory", job.directory},
                                {"user", user_name(job.owner)},
                                {"announced", announced(job)},
                                {"relays", relays_of(job)},
                                {"conflict", conflict_in(job)},
                                {"members", std::move(members)}});
  }
  return document;
}

void print_jobs(const CommandLine& line, const std::vector<control::JobPlace>& jobs) {
  const std::size_t shown = line.wide ? SIZE_MAX : 8;
  std::vector<std::string> titles{"JOB", "USER", "HERE>", "ANNOUNCED>", "RELAY", "PROCESSES"};
  if (line.wide) titles.insert(titles.end() - 1, "DIRECTORY");
  Table table(std::move(titles));
  for (const auto& job : jobs) {
    const auto relays = relays_of(job);
    std::vector<std::string> pids;
    for (const auto& card : job.members.live) {
      if (pids.size() == shown) break;
      pids.push_back(std::to_string(card.mark.pid));
    }
    if (job.members.live.size() > pids.size()) pids.emplace_back("...");
    std::vector<std::string> row{job.id,
                                 user_name(job.owner),
                                 std::to_string(job.members.live.size()),
                                 announced(job) == 0 ? "-" : std::to_string(announced(job)),
                                 relays.empty() ? "-" : relays.front(),
                                 join(pids, " ")};
    if (line.wide) row.insert(row.end() - 1, printable(job.directory));
    table.add(std::move(row));
  }
  print(table.text(screen_of(line)));
}

ExitCode show_jobs(const CommandLine& line, const std::atomic<bool>& stop) {
  if (!line.connect.empty()) return show_job_behind_relay(line, stop);
  const auto user = read_user(line.user);
  if (!user) return end_early(line, user.error());
  auto jobs = all_jobs(*user);
  if (!line.job.empty()) std::erase_if(jobs, [&](const auto& job) { return job.id != line.job; });
  const auto unusable = unusable_run_directory(*user);
  if (jobs.empty() && unusable) return end_early(line, *unusable);
  if (jobs.empty() && !line.job.empty())
    return end_early(line, {ExitCode::kNotFound, "no job " + printable(line.job) + " here"});
  if (unusable) complain(printable(unusable->text) + "; jobs there are not shown");
  for (const auto& job : jobs) {
    if (const std::string why = conflict_in(job); !why.empty()) complain(why);
  }
  if (line.json) {
    print_json(jobs_json(jobs));
  } else if (jobs.empty()) {
    complain("no job runs on this node");
  } else {
    print_jobs(line, jobs);
  }
  return ExitCode::kDone;
}

}  // namespace

const Command kJobs{
    .name = "jobs",
    .summary = "List the jobs on this node",
    .detail =
        R"(Lists your jobs on this node (root: those of all users, or of --user) with their processes, and
where each can be reached from other machines (RELAY, for --connect). A job on a single node has no
relay, unless LIVEBTL_RELAY=on was set for it.

Examples:
  btlctl jobs
  btlctl --connect node7:40123 --secret-file job.secret jobs)",
    .run = show_jobs};

}  // namespace livebtl::tool
