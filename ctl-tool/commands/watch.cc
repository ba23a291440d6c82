// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/watch.cc -- watch: shows a job as it changes. Members report changes of their rung
// by themselves; rates are asked for at each interval.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "control/client/job_links.h"
#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::JobLinks;
using control::MemberId;
using control::Standing;

timespec real_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

std::string clock_text(const timespec& now) {
  tm parts{};
  ::localtime_r(&now.tv_sec, &parts);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%02d:%02d:%02d.%03ld", parts.tm_hour, parts.tm_min,
                parts.tm_sec, now.tv_nsec / 1'000'000);
  return text.data();
}

std::string where(const Standing& standing) {
  std::string text = control::rung_name(standing.rung);
  if (!standing.operation.verb.empty()) {
    text += " of " + standing.operation.verb + " " + join(standing.operation.arguments, " ");
    if (!standing.operation.node.empty()) text += " on node:" + standing.operation.node;
  }
  if (standing.undoing) text += ", going back";
  if (!standing.report.refusal.empty()) text += ", refused: " + standing.report.refusal;
  if (!standing.reached && standing.report.waiting.empty()) text += ", under way";
  if (!standing.reached && !standing.report.waiting.empty()) {
    text += ", waits for " + join(standing.report.waiting, ", ");
  }
  return printable(text);
}

/// The same for programs.
Json place_json(const Standing& standing) {
  Json arguments = Json::array();
  for (const std::string& each : standing.operation.arguments) arguments.push_back(printable(each));
  return {{"rung", control::rung_name(standing.rung)},
          {"reached", standing.reached},
          {"verb", printable(standing.operation.verb)},
          {"arguments", std::move(arguments)},
          {"undoing", standing.undoing}};
}

/// By transport, since the process started.
struct Sent {
  std::map<std::string, std::uint64_t> bytes;
  TimeNs at = 0;  // when it was heard
};

class Watch {
 public:
  Watch(const CommandLine& line, JobLinks& links) : line_(line), links_(links) {}

  /// One interval: ask, then show what comes.
  void look(const std::atomic<bool>& stop, TimeNs end) {
    greet_and_miss();
    const TimeNs interval = line_.interval();
    const TimeNs until = std::min(end, monotonic_now() + interval);
    for (const auto& member : links_.found().live)
      links_.send(member.member, control::StatusRequest{links_.job(), false, 0});
    while (!stop.load() && monotonic_now() < until) {
      if (monotonic_now() >= renew_at_) renew(interval);
      if (const auto heard = links_.receive(std::min(until, renew_at_) - monotonic_now()))
        take(*heard);
    }
    renew_at_ = 0;  // also asks a process that has joined
    show_rates();
  }

 private:
  static constexpr TimeNs kRenewed = 20 * kSecond;  // a member keeps a watch for 60 s at most

  void renew(TimeNs interval) {
    const TimeNs renewed = std::min(interval, kRenewed);
    const auto lease_ms = static_cast<std::uint32_t>((3 * renewed + kSecond) / kMillisecond);
    for (const auto& member : links_.found().live)
      links_.send(member.member, control::WatchRequest{links_.job(), lease_ms});
    renew_at_ = monotonic_now() + kRenewed;
  }

  void greet_and_miss() {
    std::map<MemberId, std::string> now;
    for (const auto& member : links_.scan().live) now[member.member] = member.name;
    for (const auto& [member, name] : now) {
      if (!names_.contains(member)) tell("joined", name, "");
    }
    for (const auto& [member, name] : names_) {
      if (!now.contains(member)) tell("left", name, "");
    }
    names_ = std::move(now);
  }

  void take(const JobLinks::Heard& heard) {
    if (const auto* event = std::get_if<control::WatchEvent>(&heard.message)) {
      std::string text = where(event->standing);
      std::string& known = standings_[heard.from];
      if (text == known) return;
      known = std::move(text);
      tell("standing", event->standing.name, known, place_json(event->standing));
    } else if (const auto* status = std::get_if<control::StatusAnswer>(&heard.message)) {
      Sent& sent = now_[heard.from];
      sent.at = monotonic_now();
      for (const auto& transport : status->engine.transports)
        sent.bytes[transport.name] = transport.carried.bytes_sent;
    }
  }

  void tell(const std::string& kind, const std::string& name, const std::string& text,
            Json more = Json::object()) {
    const timespec now = real_time();
    if (line_.json) {
      more.update({{"schema", "livebtl.watch/1"},
                   {"job", links_.job()},
                   {"time", clock_text(now)},
                   {"unix_ms", now.tv_sec * 1000 + now.tv_nsec / 1'000'000},
                   {"kind", kind},
                   {"name", name},
                   {"text", text}});
      print_json(more);
    } else {
      print(clock_text(now) + "  " + printable(name) + ": " + (text.empty() ? kind : text) + "\n");
    }
  }

  /// Of each process between its last two answers, however late they were: nobody knows when it
  /// sent what it had sent before the first answer.
  void show_rates() {
    std::map<std::string, double> sums;
    for (const auto& [member, sent] : now_) {
      const auto known = before_.find(member);
      if (known != before_.end() && known->second.at < sent.at)
        add_rates(known->second, sent, sums);
    }
    before_ = now_;
    std::vector<std::string> rates;
    rates.reserve(sums.size());
    for (const auto& [name, rate] : sums)
      rates.push_back(name + " " + human_bytes(static_cast<std::uint64_t>(rate)) + "/s");
    if (!rates.empty()) tell("rates", links_.job(), join(rates, ", "));
  }

  static void add_rates(const Sent& before, const Sent& now, std::map<std::string, double>& sums) {
    for (const auto& [name, bytes] : now.bytes) {
      const auto known = before.bytes.find(name);
      const std::uint64_t known_bytes = known == before.bytes.end() ? 0 : known->second;
      if (bytes <= known_bytes) continue;
      sums[name] +=
          static_cast<double>(bytes - known_bytes) * 1e9 / static_cast<double>(now.at - before.at);
    }
  }

  const CommandLine& line_;
  JobLinks& links_;
  std::map<MemberId, std::string> names_, standings_;
  std::map<MemberId, Sent> now_,
      before_;  // last answers; those before this interval
  TimeNs renew_at_ = 0;
};

ExitCode watch(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return end_early(line, links.error());
  Watch watch(line, *links);
  const TimeNs end = line.timeout_s ? monotonic_now() + line.timeout_for_look() : INT64_MAX;
  const auto over = [&] { return stop.load() || line.once || monotonic_now() >= end; };
  do {
    watch.look(stop, end);
  } while (!over() && !links->found().live.empty());
  if (!over()) complain("the job has ended");
  return ExitCode::kDone;
}

void define_watch(CLI::App& app, CommandLine& line) {
  add_interval(app, line, 0.05);
  app.add_flag("--once", line.once, "Look once, and exit");
}

}  // namespace

const Command kWatch{
    .name = "watch",
    .summary = "Show the job as it changes",
    .detail =
        R"(Until interrupted, prints a line whenever a process changes its rung, joins or leaves, and the rate
of each transport. With --json: one JSON document per line.

Example:
  btlctl watch)",
    .define = define_watch,
    .run = watch};

}  // namespace livebtl::tool
