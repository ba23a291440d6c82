// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/main.cc -- livebtl-exporter: what `btlctl metrics --listen` becomes. A program
// of its own, since cpp-httplib pulls in OpenSSL and brotli, which btlctl should not load, nor
// every guest need. This thread waits for a signal; the server's threads answer. An error is
// reported once, not at each scrape: a journal would hold nothing else.
#include <signal.h>

#include <exception>

#include "base/signal_set.h"
#include "ctl-tool/command.h"
#include "ctl-tool/exporter/news.h"
#include "ctl-tool/exporter/server.h"
#include "ctl-tool/metrics_look.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

ExitCode serve(const CommandLine& line) {
  const auto where = control::parse_host_port(line.listen);
  if (!where) return end_early(line, {ExitCode::kUsage, where.error().text});
  const sigset_t ends = signal_set({SIGINT, SIGTERM});
  block_signals(ends);
  ::signal(SIGPIPE, SIG_IGN);
  News trouble;  // the server looks for one request at a time
  MetricsServer server([&line, &trouble](MetricsForm form) -> Result<std::string> {
    const auto look = look_for_metrics(line);
    const std::string text = look ? look->not_counted : look.error().text;
    if (trouble.is_new(text)) complain(text);
    if (!look) return fail(Errc::kNotFound, text);
    return metrics_text(look->jobs, form);
  });
  if (const auto listens = server.listen(*where); !listens)
    return end_early(line, {ExitCode::kRefused, listens.error().text});
  complain("metrics are served at http://" + line.listen + "/metrics");
  int which = 0;
  ::sigwait(&ends, &which);
  return ExitCode::kDone;
}

ExitCode run(std::vector<std::string> arguments) {
  const auto parsed = parse_command_line(std::move(arguments), "", "");
  const auto* line = std::get_if<CommandLine>(&parsed);
  if (line != nullptr && line->definition == &kMetrics && !line->listen.empty())
    return serve(*line);
  complain("livebtl-exporter is started by `btlctl metrics --listen ADDRESS:PORT`");
  return ExitCode::kUsage;
}

}  // namespace
}  // namespace livebtl::tool

int main(int argc, char** argv) try {
  return static_cast<int>(livebtl::tool::run({argv + 1, argv + argc}));
} catch (const std::exception& error) {
  livebtl::tool::complain(std::string("cannot go on: ") + error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
