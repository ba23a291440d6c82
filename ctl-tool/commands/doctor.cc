// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/doctor.cc -- doctor: what is wrong with this node, with a launch line, with a running job.
#include <CLI/App.hpp>
#include <algorithm>
#include <set>

#include "base/log.h"
#include "control/place/job_secret.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/command.h"
#include "ctl-tool/doctor_job.h"
#include "ctl-tool/doctor_vm.h"
#include "ctl-tool/run/run_line.h"
#include "ctl-tool/say.h"
#include "doctor/sight.h"

namespace livebtl::tool {
namespace {

using doctor::Finding;

std::string first_program(const CommandLine& line) {
  if (line.words.empty()) return "";
  const std::string& first = line.words.front();
  return first.substr(first.rfind('/') + 1);
}

/// Reads livebtl-run's own words before a launch line, and btlctl's, as those programs would.
void check_line(const CommandLine& line, const doctor::Sight& sight, const std::atomic<bool>& stop,
                doctor::Report& report) {
  if (line.words.empty()) return;
  const std::string program = first_program(line);
  const std::vector<std::string> rest(line.words.begin() + 1, line.words.end());
  if (program == "btlctl") return check_vm_line(rest, line, stop, report);
  if (program != "livebtl-run") return doctor::check_line(sight, line.words, nullptr, report);
  const auto parsed = parse_run_line(rest);
  if (const auto* end = std::get_if<EndNow>(&parsed)) {
    report.fault("line-usage", end->text.substr(0, end->text.find('\n')),
                 "livebtl-run would start nothing.", "livebtl-run --help");
    return;
  }
  const auto& run = std::get<RunLine>(parsed);
  if (!run.words.empty()) doctor::check_line(sight, run.words, &run.wishes, report);
}

void look_at_node(const CommandLine& line, const std::atomic<bool>& stop, doctor::Report& report) {
  const launch::RealSystem system;
  Settings settings;
  doctor::NodeProbe probe = doctor::look_at_this_node(system, settings);
  if (!settings.secret_file.empty()) {
    const auto secret = control::read_secret_file(settings.secret_file);
    if (!secret) probe.secret_problem = "LIVEBTL_SECRET_FILE: " + secret.error().text;
  }
  const std::string self = system.resolved("/proc/self/exe").value_or("");
  const doctor::Sight sight{
      system,           launch::find_places(system, self, LIVEBTL_LIBRARY_FROM_PROGRAMS),
      std::move(probe), std::move(settings),
      LIVEBTL_VERSION,  first_program(line) == "livebtl-run"};
  doctor::check_node(sight, report);
  check_hooks(line.root, report);
  check_line(line, sight, stop, report);
}

JobSight asked(const CommandLine& line, control::JobLinks& links, const std::atomic<bool>& stop) {
  Asker<control::StatusAnswer> asker(links, line.timeout_for_look(), stop);
  auto heard = asker.ask_all(control::StatusRequest{links.job(), false, 0});
  JobSight sight{links.job(), std::move(heard.answers), std::move(heard.silent), {}, ""};
  std::vector<control::Counted> live;
  for (const auto& [member, answer] : sight.answers)
    live.push_back({member.name, answer.standing.rank, answer.standing.announced});
  for (const auto& member : sight.silent) live.push_back({member.name, member.rank, 0, false});
  std::set<int> gone_ranks;
  for (const auto& member : links.found().gone) {
    if (member.rank >= 0) gone_ranks.insert(member.rank);
  }
  sight.missing = control::missing_members(live, gone_ranks, links.found().gone.size());
  sight.conflict = control::several_jobs(links.job(), live);
  return sight;
}

/// A process that we stopped waiting for is not silent: an interrupted look finds no faults.
ExitCode end_interrupted(const CommandLine& line) {
  return end_early(line, {ExitCode::kInterrupted, "interrupted; nothing was changed"});
}

/// Looks at the named job, or at each job here of the user whose jobs a command is for: root
/// without jobs must not be told that all is well next to a job that `btlctl status` shows it.
/// Done: the jobs could be asked, or there are none.
ExitCode look_at_jobs(const CommandLine& line, const std::atomic<bool>& stop,
                      doctor::Report& report) {
  CommandLine one = line;
  std::vector<std::string> ids = {line.job};
  if (line.job.empty() && line.connect.empty()) {
    ids.clear();
    const auto whose = read_user(line.user);
    if (!whose) return end_early(line, whose.error());
    const auto jobs = of_one_user(all_jobs(*whose), "", whose->value_or(::geteuid()));
    if (!jobs) report.fact("jobs", "not looked at: several users have some; --user names one");
    if (jobs) {
      for (const auto& job : *jobs) ids.push_back(job.id);
    }
  }
  for (const std::string& id : ids) {
    one.job = id;
    auto links = open_job(one, 0, stop);
    if (!links && !stop.load()) return end_early(line, links.error());
    const JobSight sight = links ? asked(one, *links, stop) : JobSight{};
    if (stop.load()) return end_interrupted(line);
    check_job(sight, report);
  }
  return ExitCode::kDone;
}

const char* word_for(Finding::Kind kind) {
  return kind == Finding::Kind::kFault ? "fault" : "note";
}

void print_report(const doctor::Report& report, const Screen& screen) {
  Table table({"LOOKED AT", "FOUND"});
  for (const auto& [about, text] : report.facts) table.add({about, printable(text)});
  print(table.text(screen));
  for (const Finding& each : report.findings) {
    const std::string title =
        std::string(word_for(each.kind)) + " " + each.id + ": " + printable(each.what);
    print("\n" +
          screen.painted(title, each.kind == Finding::Kind::kFault ? Tone::kBad : Tone::kActive) +
          "\n  why: " + printable(each.why) + "\n  do:  " + printable(each.action) + "\n");
  }
}

Json report_json(const doctor::Report& report, ExitCode code) {
  Json findings = Json::array(), facts = Json::array();
  for (const Finding& each : report.findings) {
    findings.push_back({{"id", each.id},
                        {"kind", word_for(each.kind)},
                        {"what", each.what},
                        {"why", each.why},
                        {"do", each.action}});
  }
  for (const auto& [about, text] : report.facts)
    facts.push_back({{"about", about}, {"text", text}});
  return {{"schema", "livebtl.doctor/1"},
          {"findings", std::move(findings)},
          {"facts", std::move(facts)},
          {"exit_code", static_cast<int>(code)},
          {"reason", reason_of(code)}};
}

ExitCode examine(const CommandLine& line, const std::atomic<bool>& stop) {
  set_log_level(LogLevel::kError);  // warnings are among the findings
  doctor::Report report;
  look_at_node(line, stop, report);
  if (stop.load()) return end_interrupted(line);
  if (const ExitCode code = look_at_jobs(line, stop, report); code != ExitCode::kDone) return code;
  const auto faults = static_cast<std::uint64_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [](const Finding& each) { return each.kind == Finding::Kind::kFault; }));
  const ExitCode code = faults == 0 ? ExitCode::kDone : ExitCode::kRefused;
  if (line.json) {
    print_json(report_json(report, code));
    return code;
  }
  print_report(report, screen_of(line));
  complain(faults == 0 ? "no fault was found"
                       : counted(faults, "fault was", "faults were") + " found");
  return code;
}

void define_doctor(CLI::App& app, CommandLine& line) {
  app.add_option("LINE", line.words, "A launch line to examine too, after --")
      ->expected(0, -1)
      ->type_name("LINE")
      ->option_text(" ");
}

}  // namespace

const Command kDoctor{
    .name = "doctor",
    .summary = "Find what is wrong with this node, a launch line, a running job",
    .detail =
        R"(Examines this node: whether library, provider and component load, and match the MPI; settings and
secret; limits, shared memory, kernel; each RDMA device; hooks. After --, also a launch line: would
its job run over livebtl? Or a line of btlctl vm that names domains: does libvirt answer? And your
jobs that run on this node, or the one that --job or --connect names. Each fault is printed with why
it matters and what to type. Nothing is changed, except that the run directory is made if missing.
Exit code 3: there are faults.

Examples:
  btlctl doctor
  btlctl doctor -- livebtl-run mpirun -n 4 ./program
  btlctl doctor -- btlctl vm migrate --domain vm1 --to qemu+ssh://node8/system --card hostdev0
  btlctl --json doctor)",
    .define = define_doctor,
    .run = examine};

}  // namespace livebtl::tool
