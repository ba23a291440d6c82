// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/metrics.cc -- metrics: this node's jobs for a monitoring system: printed once,
// or into a file for node_exporter.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"
#include "control/client/relay_address.h"
#include "control/place/directory.h"
#include "ctl-tool/command.h"
#include "ctl-tool/metrics_look.h"
#include "ctl-tool/metrics_text.h"
#include "ctl-tool/options.h"
#include "launch/doors.h"
#include "launch/system.h"

namespace livebtl::tool {
namespace {

NoJob cannot_write(const std::string& path) {
  const ExitCode code = errno == ENOENT || errno == ENOTDIR ? ExitCode::kNotFound
                        : errno == EACCES || errno == EPERM || errno == EROFS
                            ? ExitCode::kNotPermitted
                            : ExitCode::kUsage;
  return {code, "cannot write " + path + ": " + std::strerror(errno)};
}

/// A reader finds the old text or the new one, whole. Readable by all: node_exporter is another
/// user.
std::optional<NoJob> replace_file(const std::string& path, const std::string& text) {
  const std::string unnamed = path + ".new." + std::to_string(::getpid());
  ::unlink(unnamed.c_str());  // left by a killed call with this pid
  Fd fd(::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd) return cannot_write(unnamed);
  const bool written =
      control::write_descriptor(fd.number(), text).has_value() && ::fchmod(fd.number(), 0644) == 0;
  fd.reset();
  if (written && ::rename(unnamed.c_str(), path.c_str()) == 0) return std::nullopt;
  const NoJob end = cannot_write(path);
  ::unlink(unnamed.c_str());
  return end;
}

/// This process becomes the exporter. Returns only if it cannot.
NoJob become_exporter(const CommandLine& line) {
  const launch::RealSystem system;
  const std::string folder = launch::directory_of(system.resolved("/proc/self/exe").value_or(""));
  std::vector<std::string> words = {"livebtl-exporter"};
  if (!line.user.empty()) words.insert(words.end(), {"--user", line.user});
  if (!line.job.empty()) words.insert(words.end(), {"--job", line.job});
  words.insert(words.end(), {"metrics", "--listen", line.listen});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string installed =
      folder + "/" LIVEBTL_LIBRARY_FROM_PROGRAMS "/livebtl/livebtl-exporter";
  for (const std::string& path : {folder + "/../lib/livebtl/livebtl-exporter", installed})
    ::execv(path.c_str(), arguments.data());
  if (errno == ENOENT)
    return {ExitCode::kNotFound,
            "there is no " + installed + ": install the package livebtl-exporter"};
  return {ExitCode::kNotPermitted, "cannot start " + installed + ": " + std::strerror(errno)};
}

ExitCode say_what_would_be(const CommandLine& line, const MetricsLook& look, ExitCode code) {
  print("the counters of " + counted(look.jobs.size(), "job", "jobs") + " would be written to " +
        printable(line.textfile) + "\n");
  return code;
}

ExitCode show_metrics(const CommandLine& line, const std::atomic<bool>& stop) {
  if (!line.listen.empty()) return end_early(line, become_exporter(line));
  const auto look = look_for_metrics(line);
  if (!look) return end_early(line, look.error());
  if (!look->not_counted.empty()) complain(look->not_counted);
  ExitCode code = ExitCode::kDone;
  for (const Pages& pages : look->jobs) {
    if (const ExitCode its = note_unread(pages, stop); its != ExitCode::kDone) code = its;
  }
  if (line.textfile.empty()) {
    print(metrics_text(look->jobs, MetricsForm::kOpenMetrics));
    return code;
  }
  if (line.dry_run) return say_what_would_be(line, *look, code);
  const auto failed =
      replace_file(line.textfile, metrics_text(look->jobs, MetricsForm::kPrometheus));
  return failed ? end_early(line, *failed) : code;
}

std::string problem_of_listen(const std::string& text) {
  return control::parse_host_port(text) ? ""
                                        : "it takes ADDRESS:PORT, as 127.0.0.1:9464 or [::1]:9464";
}

std::string problem_of_textfile(const std::string& path) {
  return path.ends_with(".prom") ? ""
                                 : "its name has to end in .prom: node_exporter reads no other";
}

std::string conflict_of_metrics(const CommandLine& line) {
  if (!line.connect.empty())
    return "metrics are of this node's processes; call it on each node, without --connect";
  if (!line.listen.empty() && line.dry_run)
    return "--listen serves, which --dry-run does not allow; metrics alone prints what would be "
           "served";
  if (!line.listen.empty() && line.timeout_s)
    return "--listen serves until it is told to end; --timeout means nothing with it";
  return line.json ? "metrics prints OpenMetrics, not JSON; `btlctl --json top --once` does" : "";
}

void define_metrics(CLI::App& app, CommandLine& line) {
  CLI::Option* const file =
      add_value(app, "--textfile", line.textfile, "FILE",
                "Replace this file instead of printing, in the form that node_exporter's textfile "
                "collector reads; its name must end in .prom")
          ->check(checked(problem_of_textfile));
  add_value(app, "--listen", line.listen, "ADDRESS:PORT",
            "Serve http://ADDRESS:PORT/metrics instead of printing, until SIGINT or SIGTERM. "
            "Whoever reaches that address may read. Needs livebtl-exporter, a separate package")
      ->check(checked(problem_of_listen))
      ->excludes(file);
}

}  // namespace

const Command kMetrics{
    .name = "metrics",
    .summary = "Print this node's counters for a monitoring system",
    .detail =
        R"(Prints the counters of all jobs on this node (--job: of one) as OpenMetrics. Call it on each node: a
process appears only in the metrics of its own node. Labels are user, mpi_job, rank, transport, and
a few more of a fixed set; for pairs, see `btlctl top`. The processes are not woken. A dashboard
for Grafana and alert rules for Prometheus are installed in share/livebtl/monitoring.

Examples:
  btlctl metrics
  btlctl metrics --textfile /var/lib/prometheus/node-exporter/livebtl.prom
  btlctl metrics --listen 127.0.0.1:9464)",
    .define = define_metrics,
    .conflict = conflict_of_metrics,
    .run = show_metrics};

}  // namespace livebtl::tool
