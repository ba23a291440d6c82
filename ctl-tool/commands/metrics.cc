// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/metrics.cc -- metrics: the jobs of this node for a monitoring system: once, or into a file of
// node_exporter's.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"
#include "control/place/directory.h"
#include "ctl-tool/command.h"
#include "ctl-tool/metrics_text.h"
#include "ctl-tool/options.h"

namespace livebtl::tool {
namespace {

struct Gathered {
  std::vector<Pages> jobs;
  ExitCode code = ExitCode::kDone;
};

tl::expected<Gathered, NoJob> gather(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto user = read_user(line.user);
  if (!user) return tl::unexpected(user.error());
  Gathered gathered;
  for (const control::JobPlace& job : all_jobs(*user)) {
    if (!line.job.empty() && job.id != line.job) continue;
    Pages pages = pages_here(job);
    const ExitCode code = note_unread(pages, stop);
    if (code != ExitCode::kDone) gathered.code = code;
    gathered.jobs.push_back(std::move(pages));
  }
  const auto unusable = unusable_run_directory(*user);
  if (unusable && gathered.jobs.empty()) return tl::unexpected(*unusable);
  if (unusable) complain(unusable->text + "; jobs there are not counted");
  return gathered;
}

NoJob cannot_write(const std::string& path) {
  const ExitCode code = errno == ENOENT || errno == ENOTDIR ? ExitCode::kNotFound
                        : errno == EACCES || errno == EPERM || errno == EROFS
                            ? ExitCode::kNotPermitted
                            : ExitCode::kUsage;
  return {code, "cannot write " + path + ": " + std::strerror(errno)};
}

/// A reader finds the old text or the new one, whole. Readable for all: node_exporter is another user.
std::optional<NoJob> replace_file(const std::string& path, const std::string& text) {
  const std::string unnamed = path + ".new." + std::to_string(::getpid());
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

ExitCode show_metrics(const CommandLine& line, const std::atomic<bool>& stop) {
  const auto gathered = gather(line, stop);
  if (!gathered) return end_early(line, gathered.error());
  if (line.textfile.empty()) {
    print(metrics_text(gathered->jobs, MetricsForm::kOpenMetrics));
    return gathered->code;
  }
  const auto failed =
      replace_file(line.textfile, metrics_text(gathered->jobs, MetricsForm::kPrometheus));
  return failed ? end_early(line, *failed) : gathered->code;
}

std::string conflict_of_metrics(const CommandLine& line) {
  if (!line.connect.empty())
    return "metrics are of this node's processes; call it on each node, without --connect";
  return line.json ? "metrics prints OpenMetrics, not JSON; `btlctl --json top --once` does" : "";
}

void define_metrics(CLI::App& app, CommandLine& line) {
  add_value(app, "--textfile", line.textfile, "FILE",
            "Replace this file instead of printing, in the form that node_exporter's textfile "
            "collector reads; its name ends in .prom");
}

}  // namespace

const Command kMetrics{
    .name = "metrics",
    .summary = "Print this node's counters for a monitoring system",
    .detail =
        R"(Prints the counters of all jobs of this node (--job: of one) as OpenMetrics. Call it on each node: a
process appears in the metrics of its own node alone. Labels are job, rank, transport, and few more
of a fixed set; pairs are in `btlctl top`. The processes are not woken. A dashboard for Grafana
and alert rules for Prometheus are installed in share/livebtl/monitoring.

Examples:
  btlctl metrics
  btlctl metrics --textfile /var/lib/prometheus/node-exporter/livebtl.prom)",
    .define = define_metrics,
    .conflict = conflict_of_metrics,
    .run = show_metrics};

}  // namespace livebtl::tool
