// SPDX-License-Identifier: BSD-3-Clause
// perf/report_json.cc -- report.h: for programs. Times are in us, as in the table.
#include "base/json.h"
#include "perf/report.h"

namespace livebtl::perf {
namespace {

Json distribution(Test test, const Histogram& times) {
  Json json = {{"count", times.count()},
               {"mean", shown_us(test, times.mean())},
               {"min", shown_us(test, times.least())},
               {"max", shown_us(test, times.most())}};
  for (const Percentile& each : kPercentiles)
    json[each.key] = shown_us(test, times.percentile(each.percent));
  return json;
}

Json all_buckets(Test test, const Histogram& times) {
  Json list = Json::array();
  for (const auto& bucket : times.buckets())
    list.push_back({{"from", shown_us(test, bucket.from)},
                    {"to", shown_us(test, bucket.to)},
                    {"count", bucket.count}});
  return list;
}

Json figure_json(const Line& line, const Figure& figure) {
  Json json = {{"bytes", figure.bytes},
               {"over", figure.over},
               {"switching", figure.switching},
               {"us", distribution(line.test, figure.times)},
               {"messages_per_second", messages_per_second(line.test, figure)},
               {"megabytes_per_second", megabytes_per_second(line.test, figure)}};
  if (line.histogram) json["histogram"] = all_buckets(line.test, figure.times);
  if (figure.switching) {
    json["switches"] = figure.switches;
    // Of the whole round trip or window: the program waited that long.
    json["longest_in_a_switch_us"] = distribution(Test::kBandwidth, figure.longest_times);
  }
  return json;
}

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_text(const Results& results) {
  const Line& line = results.line;
  Json figures = Json::array();
  for (const Figure& figure : results.figures) figures.push_back(figure_json(line, figure));
  return one_line({{"command", "btlperf"},
                   {"exit_code", 0},
                   {"reason", reason_of(ExitCode::kDone)},
                   {"test", info_of(line.test).name},
                   {"measures", info_of(line.test).measures},
                   {"window", line.window_for()},
                   {"checked", line.check},
                   {"clock_ns", results.clock_ns},
                   {"figures", figures}});
}

std::string json_plan(const Line& line, const std::string& text) {
  return one_line({{"command", "btlperf"},
                   {"exit_code", 0},
                   {"reason", reason_of(ExitCode::kDone)},
                   {"dry_run", true},
                   {"test", info_of(line.test).name},
                   {"text", text}});
}

std::string json_failure(ExitCode code, const std::string& text) {
  return one_line({{"command", "btlperf"},
                   {"exit_code", static_cast<int>(code)},
                   {"reason", reason_of(code)},
                   {"text", text}});
}

}  // namespace livebtl::perf
