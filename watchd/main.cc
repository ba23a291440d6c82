// SPDX-License-Identifier: BSD-3-Clause
// watchd/main.cc -- livebtl-watchd: hears that this machine is about to be stopped, moved or drained, and has the jobs on it
// let go of their devices before, and return to them after. Main thread: all decisions and all calls of btlctl; a thread
// for each source. docs/WATCHD.md.
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <exception>

#include "base/exit_code.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/signal_set.h"
#include "watchd/sources/local.h"
#include "watchd/sources/metadata.h"
#include "watchd/sources/socket.h"
#include "watchd/watcher.h"

namespace livebtl::watchd {
namespace {

struct WatchdLine {
  std::string config;  // "": kConfigFile, which need not be there
  std::vector<std::string> assignments;
  bool dry_run = false, once = false, quiet = false, check = false;
};

/// The service is restarted after all codes but kUsage and kNotPermitted (livebtl-watchd.service).
ExitCode complain(const Error& error) {
  std::fprintf(stderr, "livebtl-watchd: %s\n", error.text.c_str());
  switch (error.code) {
    case Errc::kAuth:
      return ExitCode::kNotPermitted;
    case Errc::kRefused:
      return ExitCode::kBusy;
    case Errc::kSystem:
      return ExitCode::kRetracted;  // a full disk, no descriptor: another start may fare better
    default:
      return ExitCode::kUsage;
  }
}

void define(CLI::App& app, WatchdLine& line) {
  app.set_version_flag("--version", std::string("livebtl-watchd ") + LIVEBTL_VERSION);
  app.add_option("--config", line.config, "The settings file")
      ->type_name("FILE")
      ->default_str(kConfigFile);
  app.add_option("--set", line.assignments, "A setting, as in the file; overrides the file's")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--dry-run", line.dry_run,
               "Print what would be done, as lines of JSON on standard output; call and write "
               "nothing. Not with the source socket");
  app.add_flag("--once", line.once,
               "Ask each source once, do what is due, and exit: with 0 if all was done, else 5. "
               "Not with the source socket");
  app.add_flag("--check", line.check, "Read the settings, and exit");
  app.add_flag("--quiet", line.quiet, "Log only warnings and errors");
}

Result<Settings> settings_of(const WatchdLine& line) {
  const std::string config = line.config.empty() ? kConfigFile : line.config;
  auto assignments = read_config_file(config);
  // A missing file reads like one without a line.
  if (assignments && assignments->empty() && !line.config.empty() &&
      ::access(config.c_str(), F_OK) != 0)
    return fail(Errc::kInvalid, config + ", named by --config, is not there");
  if (!assignments) return tl::unexpected(assignments.error());
  std::string text;
  for (const std::string& each : line.assignments) text += each + "\n";
  auto given = parse_config(text, "--set");
  if (!given) return tl::unexpected(given.error());
  assignments->insert(assignments->end(), given->begin(), given->end());
  auto settings = read_watchd_settings(*assignments);
  if (settings && settings->sources.empty())
    return fail(Errc::kInvalid, config +
                                    " names no SOURCES, or is not there; some of azure gce ec2 "
                                    "slurm file socket (share/livebtl/watchd has a sample)");
  return settings;
}

Result<std::unique_ptr<Source>> make_source(const std::string& name, const Settings& settings) {
  if (name == "azure") return std::make_unique<AzureSource>(settings);
  if (name == "gce") return std::make_unique<GceSource>(settings);
  if (name == "ec2") return std::make_unique<Ec2Source>(settings);
  if (name == "slurm") return std::make_unique<SlurmSource>(settings, JobOrders(settings).node());
  if (name == "file") return std::make_unique<FileSource>(settings);
  return SocketSource::listen(settings.socket);
}

/// A dry run would take the socket away from the running livebtl-watchd.
tl::unexpected<Error> not_with_socket(const WatchdLine& line) {
  const char* const why =
      line.once
          ? "--once is not possible with the source socket: nobody would be listening in between"
          : "--dry-run is not possible with the source socket, which it would take away from the "
            "livebtl-watchd that runs: name the other sources, as by --set SOURCES=file";
  return fail(Errc::kInvalid, why);
}

Result<Parts> make_parts(const WatchdLine& line, const Settings& settings) {
  Parts parts;
  if (!line.dry_run) {
    auto journal = Journal::open(settings.journal);
    if (!journal) return tl::unexpected(journal.error());
    parts.journal = std::move(*journal);
  }
  for (const std::string& name : settings.sources) {
    if (name == "socket" && (line.once || line.dry_run)) return not_with_socket(line);
    auto source = make_source(name, settings);
    if (!source) return tl::unexpected(source.error());
    parts.sources.push_back(std::move(*source));
  }
  return parts;
}

std::uint64_t seed() {
  std::uint64_t value = unix_now_ns();
  if (::getrandom(&value, sizeof value, 0) != sizeof value)
    value ^= static_cast<std::uint64_t>(monotonic_now());
  return value;
}

/// Blocked in all threads, and read by the main thread.
Fd signals_to_end() {
  const sigset_t signals = signal_set({SIGTERM, SIGINT});
  block_signals(signals);
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Was the output of a dry run lost?
bool is_lost(const WatchdLine& line) {
  return line.dry_run && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
}

ExitCode watch(const WatchdLine& line) {
  const auto settings = settings_of(line);
  if (!settings) return complain(settings.error());
  if (line.check) return ExitCode::kDone;
  set_log_prefix("livebtl-watchd");
  set_log_level(line.quiet ? LogLevel::kWarn : LogLevel::kInfo);
  const Fd signals = signals_to_end();
  if (!signals) return complain({Errc::kSystem, "no descriptor for signals can be had"});
  auto parts = make_parts(line, *settings);
  if (!parts) return complain(parts.error());
  Watcher watcher(*settings, std::move(*parts), seed());
  if (const Status begun = watcher.begin(); !begun) return complain(begun.error());
  bool all_done = true;
  if (line.once) {
    all_done = watcher.once();
  } else {
    log(LogLevel::kInfo, "watchd", "watches%s", line.dry_run ? ", as a dry run" : "");
    watcher.run(signals.number());
  }
  if (is_lost(line))
    return complain({Errc::kSystem,
                     "what would be done could not be written; is the disk full, or standard "
                     "output closed?"});
  return all_done ? ExitCode::kDone : ExitCode::kRetracted;
}

}  // namespace
}  // namespace livebtl::watchd

int main(int argc, char** argv) try {
  using namespace livebtl::watchd;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI::App app(
      "Have jobs release their devices before this machine is stopped or moved, and return after",
      "livebtl-watchd");
  WatchdLine line;
  define(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "livebtl-watchd: %s\nTry: livebtl-watchd --help\n", error.what());
    return static_cast<int>(livebtl::ExitCode::kUsage);
  }
  return static_cast<int>(watch(line));
} catch (const std::exception& error) {
  std::fprintf(stderr, "livebtl-watchd: cannot go on: %s\n", error.what());
  return static_cast<int>(livebtl::ExitCode::kRetracted);
}
