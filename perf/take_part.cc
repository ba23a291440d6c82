// SPDX-License-Identifier: BSD-3-Clause
// perf/take_part.cc -- see take_part.h.
#include "perf/take_part.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/fd.h"
#include "perf/lead.h"
#include "perf/meeting.h"
#include "perf/plot.h"
#include "perf/report.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

using Kind = Label::Kind;

constexpr const char* kLingerMs = "1000";
constexpr std::uint64_t kHelloNumber = 10, kGoodbyeNumber = 11;

ExitCode exit_code_for(Errc code) {
  switch (code) {
    case Errc::kInvalid:
    case Errc::kLimit:
      return ExitCode::kUsage;
    case Errc::kCorrupt:
      return ExitCode::kInconsistent;
    case Errc::kAuth:
    case Errc::kSystem:
    case Errc::kNoMemory:
      return ExitCode::kNotPermitted;
    case Errc::kUnreachable:
    case Errc::kUnsupported:
    case Errc::kRefused:
      return ExitCode::kRefused;
    default:
      return ExitCode::kMembersMissing;
  }
}

ExitCode end_by(const Line& line, const Error& error) {
  return end_with(line, exit_code_for(error.code), error.text);
}

/// What the library reads when the engine starts.
void set_environment(const Line& line, const Place& place) {
  ::setenv("LIVEBTL_JOB", line.job.c_str(), 1);
  ::setenv("LIVEBTL_SIZE", "2", 1);
  if (!line.transports.empty())
    ::setenv("LIVEBTL_TRANSPORTS", ("self," + joined(line.transports, ",")).c_str(), 1);
  // After a failure nobody waits for what cannot arrive.
  ::setenv("LIVEBTL_LINGER_MS", kLingerMs, 0);
  // The library cannot know that a job that is named by hand stays on this machine.
  if (place.one_machine) ::setenv("LIVEBTL_TCP_IF", "lo", 0);
}

void bind_to(const std::optional<int>& processor) {
  if (!processor) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(*processor), &set);
  // If that is not allowed, the figures are worse, but right.
  (void)::sched_setaffinity(0, sizeof set, &set);
}

/// Exchanges a word: both are there, or have finished.
bool exchange(Pair& pair, std::uint64_t number) {
  char out = 1, in = 0;
  bool last = false;
  const bool first = pair.rank() == 0;
  return (!first || pair.send({Kind::kAnswer, number}, {&out, 1})) &&
         pair.receive(Kind::kAnswer, number, {&in, 1}, last) &&
         (first || pair.send({Kind::kAnswer, number}, {&out, 1}));
}

ExitCode end_without_plot(const Line& line) {
  return end_with(line, ExitCode::kUsage,
                  line.plot + " cannot be written; is there such a directory, and room?");
}

ExitCode write_plot(const Line& line, const Results& results) {
  if (line.plot.empty()) return ExitCode::kDone;
  std::ofstream file(line.plot, std::ios::trunc);
  file << plot_of(results);
  file.close();
  return file ? ExitCode::kDone : end_without_plot(line);
}

ExitCode measure_all(const Line& line, Pair& pair, Switcher* switcher) {
  Leader leader(line, pair, switcher);
  const bool led = pair.rank() == 0;
  const bool well = exchange(pair, kHelloNumber) && (led ? leader.run() : follow(line, pair)) &&
                    exchange(pair, kGoodbyeNumber);
  if (!well) {
    pair.close_if_failed();
    return end_by(line, *pair.failure());
  }
  if (!led) return ExitCode::kDone;
  const ExitCode plotted = write_plot(line, leader.results());
  if (line.json && plotted == ExitCode::kDone)
    std::fputs(json_text(leader.results()).c_str(), stdout);
  return plotted;
}

ExitCode meet_and_measure(const Line& line, Switcher* switcher) {
  auto engine = Engine::acquire();
  if (!engine) return end_by(line, engine.error());
  auto port = (*engine)->open_port({});
  if (!port) return end_by(line, port.error());
  const Meeting meeting{line.meet, line.job, line.rank, agreement(line)};
  const auto address = meet(meeting, (*port)->address(), line.timeout());
  const auto other = address ? (*engine)->peer(*address) : tl::unexpected(address.error());
  if (!other) {
    // If the two were told different things, the other one has yet to read that.
    if (other.error().code != Errc::kInvalid) remove_file(meeting);
    return end_by(line, other.error());
  }
  Pair pair(*engine, std::move(*port), *other, line.rank, line.timeout());
  const ExitCode code = measure_all(line, pair, switcher);
  remove_file(meeting);
  return code;
}

}  // namespace

ExitCode end_with(const Line& line, ExitCode code, const std::string& text) {
  const std::string who = line.rank == 1 ? "btlperf (rank 1): " : "btlperf: ";
  std::fprintf(stderr, "%s%s\n", who.c_str(), text.c_str());
  if (line.json && line.rank != 1) std::fputs(json_failure(code, text).c_str(), stdout);
  return code;
}

ExitCode try_plot(const Line& line) {
  if (line.plot.empty() || line.rank == 1) return ExitCode::kDone;
  struct stat entry {
  }, facts{};
  const bool is_there = ::lstat(line.plot.c_str(), &entry) == 0;
  if (is_there) {
    // A dangling link: its target would have to be removed again, and not the link.
    if (::stat(line.plot.c_str(), &facts) != 0) return ExitCode::kDone;
    // A reader of a pipe would take this for the end.
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return ExitCode::kDone;
  }
  const Fd file(::open(line.plot.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return end_without_plot(line);
  if (!is_there) ::unlink(line.plot.c_str());
  return ExitCode::kDone;
}

ExitCode take_part(const Line& line, const Place& place) {
  set_environment(line, place);
  std::unique_ptr<Switcher> switcher;
  if (line.switch_every > 0 && line.rank == 0) {
    auto started = Switcher::start(line.job, line.transports, line.switch_every);
    if (!started) return end_by(line, started.error());
    switcher = std::move(*started);
  }
  bind_to(place.processor);  // after the fork: switching must not wait for measuring
  return meet_and_measure(line, switcher.get());
}

}  // namespace livebtl::perf
