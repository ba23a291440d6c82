// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/top.cc -- top: what moves now, by transport and by pair, what was lost, and who waits for whom.
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <array>
#include <cstdio>

#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/rates.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kPairsShown = 20;
constexpr std::size_t kLossesShown = 5;

std::string byte_rate(double rate) {
  return rate > 0 ? human_bytes(static_cast<std::uint64_t>(rate)) + "/s" : "-";
}

std::string number_rate(double rate) {
  if (rate <= 0) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), rate < 10 ? "%.1f/s" : "%.0f/s", rate);
  return text.data();
}

/// What a terminal is sent; a file or a pipe gets the tables alone.
struct TopScreen : Screen {
  bool refreshes = false;       // each look replaces the last
  std::size_t rows = SIZE_MAX;  // that pairs may take

  explicit TopScreen(const CommandLine& line) : Screen(screen_of(line)) {
    const bool every = line.all || line.wide;
    refreshes = terminal && !line.once;
    rows = every ? SIZE_MAX : kPairsShown;
    winsize size{};
    if (refreshes && !every && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
      constexpr std::size_t kOther = 20;  // head, transports, losses
      rows = size.ws_row > kOther + 3 ? size.ws_row - kOther : 3;
    }
  }
};

std::string transports_text(const JobRates& rates, const Screen& screen) {
  Table table(
      {"TRANSPORT", "STATE", "PAIRS>", "BULK>", "SENT>", "RECEIVED>", "FRAMES>", "PATHS LOST>"});
  for (const TransportRate& each : rates.transports)
    table.add({printable(each.name), each.state, std::to_string(each.pairs),
               std::to_string(each.bulk_pairs), byte_rate(each.rate.bytes_sent),
               byte_rate(each.rate.bytes_received), number_rate(each.frames_sent),
               std::to_string(each.paths_lost)});
  return table.text(screen);
}

std::string pairs_text(const JobRates& rates, const TopScreen& screen) {
  Table table({"PROCESS", "PEER", "SENDS ON", "SENT>", "RECEIVED>", "MESSAGES>", "WAITS FOR"});
  std::size_t shown = 0;
  for (const PairRate& pair : rates.pairs) {
    if (shown++ == screen.rows) break;
    std::string by = pair.sending.empty() ? "-" : printable(pair.sending);
    if (pair.lost) by = "lost";
    table.add({pair.process, pair.peer, by, byte_rate(pair.rate.bytes_sent),
               byte_rate(pair.rate.bytes_received), number_rate(pair.rate.messages_sent),
               pair.waits.empty() ? "-" : pair.waits},
              pair.lost ? Tone::kBad : Tone::kPlain);
  }
  std::string text = table.empty() ? "no pair is connected\n" : table.text(screen);
  if (rates.pairs.size() > screen.rows)
    text += "and " + counted(rates.pairs.size() - screen.rows, "pair", "pairs") + " more (--all)\n";
  return text;
}

std::string losses_text(const JobRates& rates, const Screen& screen) {
  std::string text;
  for (const LossSeen& loss : rates.losses) {
    if (text.empty())
      text = "\nlost, the newest first (" + std::to_string(rates.losses_total) + " in all):\n";
    const std::string what = loss.transport.empty() ? "the process" : "a path by " + loss.transport;
    text += "  " +
            screen.painted(time_text(loss.unix_ms) + "  " + loss.process + " to " + loss.peer +
                               ": " + what + ": " + loss.why,
                           Tone::kBad) +
            "\n";
    if (&loss - rates.losses.data() + 1 == static_cast<std::ptrdiff_t>(kLossesShown)) break;
  }
  return text;
}

std::string head_text(const Pages& pages, const JobRates& rates, const Screen& screen) {
  std::string text =
      "job " + pages.job + ": " + counted(pages.pages.size(), "process", "processes") +
      (pages.missing.count == 0 ? "" : ", " + std::to_string(pages.missing.count) + " missing") +
      ", " + (rates.busy.empty() ? "at rest" : std::to_string(rates.busy.size()) + " at work") +
      "  " + time_text(unix_now_ns() / std::uint64_t{kMillisecond}) + "\n";
  if (!pages.stopped.empty())
    text += "  " +
            screen.painted("stopped, and cannot move: " + join(pages.stopped, ", "), Tone::kBad) +
            "\n";
  constexpr std::size_t kBusyShown = 5;
  for (std::size_t i = 0; i < std::min(rates.busy.size(), kBusyShown); ++i)
    text += "  " + screen.painted(rates.busy[i], Tone::kActive) + "\n";
  return text + "\n";
}

Json json_of(const TransportRate& each) {
  return {{"name", each.name},
          {"state", each.state},
          {"pairs", each.pairs},
          {"bulk_pairs", each.bulk_pairs},
          {"bytes_sent", each.rate.bytes_sent},
          {"bytes_received", each.rate.bytes_received},
          {"frames_sent", each.frames_sent},
          {"paths_lost", each.paths_lost}};
}

Json json_of(const PairRate& pair) {
  return {{"process", pair.process},
          {"peer", pair.peer},
          {"sending", pair.sending},
          {"bulk", pair.bulk},
          {"bytes_sent", pair.rate.bytes_sent},
          {"bytes_received", pair.rate.bytes_received},
          {"messages_sent", pair.rate.messages_sent},
          {"messages_received", pair.rate.messages_received},
          {"waits_for", pair.waits},
          {"receives_from_it", pair.now.awaited},
          {"sends_untaken", pair.now.untaken},
          {"frames_queued", pair.now.queued},
          {"out_of_credit", pair.now.out_of_credit},
          {"lost", pair.lost}};
}

Json json_of(const LossSeen& loss) {
  return {{"unix_ms", loss.unix_ms},
          {"process", loss.process},
          {"peer", loss.peer},
          {"transport", loss.transport},
          {"why", loss.why}};
}

template <class Each>
Json list_of(const std::vector<Each>& all) {
  Json list = Json::array();
  for (const Each& each : all) list.push_back(json_of(each));
  return list;
}

Json top_json(const Pages& pages, const JobRates& rates) {
  return {{"schema", "livebtl.top/1"},
          {"job", pages.job},
          {"unix_ms", unix_now_ns() / std::uint64_t{kMillisecond}},
          {"members", pages.pages.size()},
          {"missing", pages.missing.count},
          {"busy", rates.busy},
          {"stopped", pages.stopped},
          {"transports", list_of(rates.transports)},
          {"pairs", list_of(rates.pairs)},
          {"losses", list_of(rates.losses)},
          {"losses_total", rates.losses_total},
          {"unread", unread_json(pages)}};
}

void show(const CommandLine& line, const TopScreen& screen, const Pages& pages,
          const JobRates& rates) {
  if (line.json) return print_json(top_json(pages, rates));
  const std::string clear = screen.refreshes ? "\x1b[H\x1b[2J" : "";
  print(clear + head_text(pages, rates, screen) + transports_text(rates, screen) + "\n" +
        pairs_text(rates, screen) + losses_text(rates, screen) +
        (screen.refreshes || line.once ? "" : "\n"));
}

/// Waits until then, or until a signal comes.
void pause_until(TimeNs until, const std::atomic<bool>& stop) {
  constexpr TimeNs kStep = 50 * kMillisecond;
  for (TimeNs left = until - monotonic_now(); left > 0 && !stop.load();
       left = until - monotonic_now()) {
    const timespec pause{0, std::min(left, kStep)};
    ::nanosleep(&pause, nullptr);
  }
}

ExitCode show_top(const CommandLine& line, const std::atomic<bool>& stop) {
  auto look = PageLook::open(line, stop);
  if (!look) return end_early(line, look.error());
  const TimeNs end = line.timeout_s ? monotonic_now() + line.timeout_for_look() : INT64_MAX;
  Pages before = look->look();
  do {
    pause_until(std::min(end, monotonic_now() + line.interval()), stop);
    if (stop.load() && !line.once) return ExitCode::kDone;
    Pages now = look->look();
    if (now.pages.empty() && now.unread.empty()) {
      complain("the job has ended");
      return ExitCode::kDone;
    }
    show(line, TopScreen(line), now, rates_between(before, now));
    before = std::move(now);
  } while (!line.once && !stop.load() && monotonic_now() < end);
  return line.once ? note_unread(before, stop) : ExitCode::kDone;
}

void define_top(CLI::App& app, CommandLine& line) {
  add_interval(app, line, 0.2);
  app.add_flag("--once", line.once, "Show one table, for one interval, and exit");
  app.add_flag("--all", line.all, "Show every pair, however many there are");
}

}  // namespace

const Command kTop{
    .name = "top",
    .summary = "Show what moves now, what was lost, and who waits for whom",
    .detail =
        R"(Shows, at each interval, how much each transport and each pair carries, the busiest pairs first; the
last losses; what each process waits for: receives that only one peer can satisfy, sends that this
peer knows of and has not received, and frames that cannot be sent yet; and which processes of this
node are stopped. Processes copy their counters five times a second while they communicate, and are
not woken: one that computes shows no rates. On a terminal each table replaces the last, in colour
unless NO_COLOR is set; otherwise they follow one another. With --json: one JSON document per line.

Examples:
  btlctl top
  btlctl top --once --interval 0.5
  btlctl --json top --once)",
    .define = define_top,
    .run = show_top};

}  // namespace livebtl::tool
