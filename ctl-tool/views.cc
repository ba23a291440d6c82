// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/views.cc -- jobs, list, settings: what is, without changing it.
#include <pwd.h>

#include <map>

#include "base/settings.h"
#include "control/client/relay_address.h"
#include "control/ladder/census.h"
#include "control/place/job.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/commands.h"
#include "ctl-tool/say.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::JobLinks;
using control::ListAnswer;
using control::MemberEntry;

std::string user_name(uid_t user) {
  const passwd* entry = ::getpwuid(user);  // this program has one thread
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

Json member_json(const control::MemberCard& card) {
  return {{"process", control::process_name(card.member.process)},
          {"incarnation", static_cast<std::uint32_t>(card.member.incarnation)},
          {"pid", card.pid},
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

/// One transport over all members.
struct Sum {
  core::TransportStatus total;
  std::uint32_t members = 0, open = 0, excluded = 0, quiesced = 0, absent = 0;
};

std::map<std::string, Sum> sum_transports(
    const std::vector<std::pair<MemberEntry, ListAnswer>>& answers) {
  std::map<std::string, Sum> sums;
  for (const auto& [member, answer] : answers) {
    for (const auto& transport : answer.transports) {
      Sum& sum = sums[transport.name];
      sum.total.alias = transport.alias;
      sum.total.exclusivity = transport.exclusivity;
      sum.total.weight = transport.weight;
      // A pair with itself has both its ends in one process.
      const std::uint32_t own = transport.own_pair ? 1 : 0;
      sum.total.peers += transport.peers + (transport.peers > 0 ? own : 0);
      sum.total.bulk_peers += transport.bulk_peers + (transport.bulk_peers > 0 ? own : 0);
      sum.total.carried += transport.carried;
      sum.total.paths_lost += transport.paths_lost;
      sum.total.corrupt_frames += transport.corrupt_frames;
      sum.members += 1;
      sum.open += transport.open ? 1 : 0;
      sum.excluded += transport.excluded ? 1 : 0;
      sum.quiesced += transport.quiesced ? 1 : 0;
      sum.absent += transport.absent.empty() ? 0 : 1;
    }
  }
  return sums;
}

/// Each end counts a pair.
std::string pairs_of(std::uint32_t ends) { return std::to_string((ends + 1) / 2); }

std::string state_of(const Sum& sum) {
  // Some only: a command for one node, or one that is under way.
  const auto in = [&](std::uint32_t members) {
    return members == sum.members ? std::string() : " in " + std::to_string(members);
  };
  if (sum.excluded > 0) return "removed" + in(sum.excluded);
  if (sum.quiesced > 0) return "quiesced" + in(sum.quiesced);
  if (sum.absent > 0) return "absent" + in(sum.absent);
  if (sum.open == 0) return "closed";
  return sum.open == sum.members ? "open" : "open in " + std::to_string(sum.open);
}

/// Where members of this node relay: what --connect takes.
std::vector<std::string> relays_of(const control::JobPlace& job) {
  for (const auto& card : job.members.live) {
    if (auto places = control::host_ports(card.relay); !places.empty()) return places;
  }
  return {};
}

/// The members, as their relays name them.
int show_job_behind_relay(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto links = open_job(line, 0, stop);
  if (!links) return fail_early(line, links.error());
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
  if (line.json) {
    print_json({{"schema", "livebtl.jobs/1"},
                {"jobs", Json::array({{{"job", links->job()}, {"members", std::move(members)}}})}});
  } else {
    print(table.text());
  }
  return 0;
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

void print_jobs(const std::vector<control::JobPlace>& jobs) {
  Table table({"JOB", "USER", "HERE>", "ANNOUNCED>", "RELAY", "PROCESSES"});
  for (const auto& job : jobs) {
    const auto relays = relays_of(job);
    std::vector<std::string> pids;
    for (const auto& card : job.members.live) {
      if (pids.size() == 8) break;
      pids.push_back(std::to_string(card.pid));
    }
    if (job.members.live.size() > pids.size()) pids.emplace_back("...");
    table.add({job.id, user_name(job.owner), std::to_string(job.members.live.size()),
               announced(job) == 0 ? "-" : std::to_string(announced(job)),
               relays.empty() ? "-" : relays.front(), join(pids, " ")});
  }
  print(table.text());
}

}  // namespace

int show_jobs(const CommandLine& line, const std::atomic<bool>& stop) {
  if (!line.connect.empty()) return show_job_behind_relay(line, stop);
  auto jobs = all_jobs();
  if (!line.job.empty()) std::erase_if(jobs, [&](const auto& job) { return job.id != line.job; });
  const auto unusable = unusable_run_directory();
  if (jobs.empty() && unusable) return fail_early(line, *unusable);
  if (jobs.empty() && !line.job.empty())
    return fail_early(line, {ExitCode::kNotFound, "no job " + printable(line.job) + " here"});
  if (unusable) complain(printable(unusable->text) + "; jobs there are not shown");
  for (const auto& job : jobs) {
    if (const std::string why = conflict_in(job); !why.empty()) complain(why);
  }
  if (line.json) {
    print_json(jobs_json(jobs));
  } else if (jobs.empty()) {
    complain("no job runs on this node");
  } else {
    print_jobs(jobs);
  }
  return 0;
}

int show_list(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return fail_early(line, links.error());
  Asker<ListAnswer> asker(*links, line.timeout_for_look(), stop);
  const auto result = asker.ask_all(control::ListRequest{links->job()});
  if (line.json) {
    Json document = {
        {"schema", "livebtl.list/1"}, {"job", links->job()}, {"members", Json::array()}};
    document["silent"] = silent_json(result.silent);
    for (const auto& [member, answer] : result.answers) {
      document["members"].push_back(as_json(answer));
    }
    print_json(document);
    return note_silent(result.silent, stop);
  }
  Table table({"TRANSPORT", "STATE", "EXCLUSIVITY>", "WEIGHT>", "PAIRS>", "BULK>", "SENT>",
               "RECEIVED>", "PATHS LOST>", "CORRUPT>"});
  for (const auto& [name, sum] : sum_transports(result.answers)) {
    const std::string label = sum.total.alias.empty() ? name : name + " (" + sum.total.alias + ")";
    table.add({printable(label), state_of(sum), std::to_string(sum.total.exclusivity),
               std::to_string(sum.total.weight), pairs_of(sum.total.peers),
               pairs_of(sum.total.bulk_peers), human_bytes(sum.total.carried.bytes_sent),
               human_bytes(sum.total.carried.bytes_received), std::to_string(sum.total.paths_lost),
               std::to_string(sum.total.corrupt_frames)});
  }
  print(table.text());
  return note_silent(result.silent, stop);
}

int show_settings(const CommandLine& line) {
  Json list = Json::array();
  Table table({"SETTING", "TYPE", "DEFAULT", "MEANING"});
  for (const SettingInfo& setting : setting_table()) {
    const std::string name = "LIVEBTL_" + std::string(setting.name);
    table.add({name, std::string(setting.type),
               setting.fallback.empty() ? "-" : std::string(setting.fallback),
               std::string(setting.meaning) + (setting.live ? " (live)" : "")});
    list.push_back({{"name", name},
                    {"type", setting.type},
                    {"default", setting.fallback},
                    {"meaning", setting.meaning},
                    {"live", setting.live}});
  }
  if (line.json) {
    print_json({{"schema", "livebtl.settings/1"}, {"settings", std::move(list)}});
  } else {
    print(table.text());
  }
  return 0;
}

}  // namespace livebtl::tool
