// SPDX-License-Identifier: BSD-3-Clause
// perf/line_options.cc -- line.h: the options, the help text of each, and what each takes.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/nearest.h"
#include "base/transport_name.h"
#include "perf/line.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

constexpr std::uint64_t kRoundsMax = 1'000'000'000;
constexpr std::size_t kWindowMax = 4096;

constexpr const char* kDetail = R"(Examples:
  btlperf latency --transport sm
  btlperf bandwidth --sizes 64K:4M --json
  btlperf latency --size 1K --switch-every 5ms --plot latency.svg
On two nodes, with a directory that both see and a secret (LIVEBTL_SECRET_FILE):
  btlperf latency --job lat1 --rank 0 --meet ~/meet --transport tcp
  btlperf latency --job lat1 --rank 1 --meet ~/meet --transport tcp

Exit codes: as in btlctl; see btlperf(1).)";

CLI::Validator takes(std::function<std::string(const std::string&)> problem) {
  return CLI::Validator(std::move(problem), "");
}

/// What is wrong with it, if there is anything.
template <class Value>
std::string problem_in(const Result<Value>& value) {
  return value ? "" : value.error().text;
}

std::string problem_of_test(const std::string& word) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kTests));
  for (const TestInfo& each : kTests) names.emplace_back(each.name);
  if (std::find(names.begin(), names.end(), word) != names.end()) return "";
  const auto near = nearest(word, names);
  std::string all = "there is no such test; there are";
  for (const std::string_view name : names) all += " " + std::string(name);
  return all + (near ? "; did you mean " + std::string(*near) + "?" : "");
}

std::vector<std::string> split_transports(const std::string& text) {
  std::vector<std::string> names;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    names.emplace_back(canonical_transport(part));
  return names;
}

std::string problem_of_transports(const std::string& text) {
  const auto names = split_transports(text);
  const bool named = std::all_of(names.begin(), names.end(),
                                 [](const std::string& each) { return is_transport_name(each); });
  if (!names.empty() && names.size() < kTransportsMax && named && text.back() != ',') return "";
  return "it takes names of transports with commas between, as in sm or tcp,ofi:tcp;ofi_rxm";
}

std::string problem_of_seconds(const std::string& text) {
  double seconds = std::nan("");
  const bool fits =
      CLI::detail::lexical_cast(text, seconds) && seconds >= 0.1 && seconds <= 86'400.0;
  return fits ? "" : "it takes seconds, from 0.1 to 86400";
}

void define_measured(CLI::App& app, Line& line) {
  app.add_option_function<std::string>(
         "TEST",
         [&line](const std::string& word) {
           for (const TestInfo& each : kTests) {
             if (word == each.name) line.test = each.test;
           }
         },
         "latency, bandwidth, bidirectional, rate, put, get or atomic")
      ->required()
      ->type_name("TEST")
      ->option_text(" ")
      ->check(takes(problem_of_test));
  app.add_option_function<std::string>(
         "--sizes,--size",
         [&line](const std::string& text) { line.sizes = parse_sizes(text).value_or(line.sizes); },
         "Bytes of a message: 8, or 8,1K,1M, or 1:4M in powers of two (1:4M; rate: 8)")
      ->type_name("SIZES")
      ->check(takes([](const std::string& text) { return problem_in(parse_sizes(text)); }));
  app.add_option("--rounds", line.rounds,
                 "Rounds or windows to measure (10000, above 8 KiB 1000; windows: 100 and 20)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::uint64_t{1}, kRoundsMax).description(""));
  app.add_option("--warm-up", line.warm_up,
                 "Rounds to run first, not measured (100, above 8 KiB 10; windows: 10 and 2)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::uint64_t{0}, kRoundsMax).description(""));
  app.add_option("--window", line.window,
                 "Messages or operations in flight at once (64; put, get and atomic: 1)")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::size_t{1}, kWindowMax).description(""));
  app.add_flag("--check", line.check, "Compare every byte that arrives; implied by --switch-every");
}

void define_transports(CLI::App& app, Line& line) {
  app.add_option_function<std::string>(
         "--transport",
         [&line](const std::string& text) { line.transports = split_transports(text); },
         "Transports that may be used, such as sm, tcp, verbs or ofi:tcp;ofi_rxm (the library's "
         "choice)")
      ->type_name("NAMES")
      ->check(takes(problem_of_transports));
  app.add_option_function<std::string>(
         "--switch-every",
         [&line](const std::string& text) { line.switch_every = parse_time(text).value_or(0); },
         "Measure on each of two transports (sm,tcp), then while the job is switched between them, "
         "with this time between the end of a switch and the next")
      ->type_name("TIME")
      ->check(takes([](const std::string& text) { return problem_in(parse_time(text)); }));
  app.add_option("--switches", line.switches,
                 "Measure each size through at least this many switches")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1'000'000}).description(""));
}

void define_processes(CLI::App& app, Line& line) {
  app.add_option("--job", line.job,
                 "Take part in this job as one of its two processes, instead of starting both here")
      ->type_name("NAME");
  app.add_option("--rank", line.rank, "With --job: 0, which measures and prints, or 1")
      ->type_name("RANK")
      ->check(CLI::Range(0, 1).description(""));
  app.add_option_function<int>(
         "--ranks", [](int) {}, "With --job: its number of processes, 2")
      ->type_name("NUMBER")
      ->check(CLI::Range(2, 2).description(""));
  app.add_option("--meet", line.meet,
                 "With --job: a directory that both processes see, in which they find each other")
      ->type_name("DIRECTORY");
  app.add_option("--timeout", line.timeout_s,
                 "Give up after this many seconds without a message, or without the other process")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(takes(problem_of_seconds));
}

void define_output(CLI::App& app, Line& line) {
  app.add_flag("--histogram", line.histogram, "Show the distribution for each size");
  app.add_flag("--json", line.json, "Print one JSON document; with --histogram it has all buckets");
  app.add_option("--plot", line.plot,
                 "Write a picture (SVG): the distribution for one size, or a comparison of several")
      ->type_name("FILE");
  app.add_flag("--dry-run", line.dry_run, "Say what would be done, and exit");
}

}  // namespace

std::unique_ptr<CLI::App> define_line(Line& line) {
  auto app = std::make_unique<CLI::App>(
      "btlperf -- measure latency, bandwidth and message rate over livebtl, also through switches",
      "btlperf");
  define_measured(*app, line);
  define_transports(*app, line);
  define_processes(*app, line);
  define_output(*app, line);
  app->set_version_flag("--version", std::string("btlperf ") + LIVEBTL_VERSION,
                        "Print the version");
  app->allow_extras();
  app->footer(kDetail);
  return app;
}

}  // namespace livebtl::perf
