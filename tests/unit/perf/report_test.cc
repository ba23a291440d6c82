// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/report_test.cc -- what is printed and drawn for known figures.
#include "perf/report.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/json.h"
#include "perf/plot.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::perf;
using livebtl::test::says;

namespace {

Line line_of(const std::vector<std::string>& words) { return std::get<Line>(parse_line(words)); }

/// A hundred times, from 2 to 200 us.
Figure some_figure(std::size_t bytes, std::uint64_t window) {
  Figure figure;
  figure.bytes = bytes;
  figure.over = "sm";
  figure.window = window;
  for (int i = 1; i <= 100; ++i) {
    figure.times.add(i * 2 * kMicrosecond);
    figure.elapsed += i * 2 * kMicrosecond;
  }
  return figure;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("latency is half of a round trip; a window is shown as it is, with its rate") {
  const Figure ping = some_figure(8, 1);
  CHECK(shown_us(Test::kLatency, ping.times.mean()) == doctest::Approx(50.5));
  CHECK(says(table_row(line_of({"latency"}), ping), "50.5"));
  // 100 windows of 64 in 10.1 ms.
  const Figure stream = some_figure(1000, 64);
  CHECK(messages_per_second(Test::kBandwidth, stream) == doctest::Approx(633'663.4));
  CHECK(megabytes_per_second(Test::kBandwidth, stream) == doctest::Approx(633.6634));
  CHECK(megabytes_per_second(Test::kBidirectional, stream) == doctest::Approx(1267.3268));
  CHECK(says(table_row(line_of({"bandwidth"}), stream), "633663"));
  CHECK(messages_per_second(Test::kRate, Figure{}) == 0);
}

TEST_CASE("the JSON document has what the table has") {
  Results results{line_of({"latency", "--size", "8", "--histogram"}), 20, {some_figure(8, 1)}};
  const auto json = parse_json(json_text(results), 8);
  REQUIRE(json);
  const Json& figure = json->at("figures").at(0);
  CHECK(json->at("test") == "latency");
  CHECK(json->at("exit_code") == 0);
  CHECK(figure.at("bytes") == 8);
  CHECK(figure.at("us").at("count") == 100);
  CHECK(figure.at("us").at("max") == doctest::Approx(100));
  CHECK(figure.at("us").at("p50").get<double>() == doctest::Approx(50).epsilon(0.01));
  std::uint64_t all = 0;
  for (const Json& bucket : figure.at("histogram")) all += bucket.at("count").get<std::uint64_t>();
  CHECK(all == 100);
  const auto failure = parse_json(json_failure(ExitCode::kMembersMissing, "why \"so\""), 8);
  REQUIRE(failure);
  CHECK(failure->at("exit_code") == 10);
  CHECK(failure->at("reason") == "members-missing");
  CHECK(failure->at("text") == "why \"so\"");
  const auto plan = parse_json(json_plan(line_of({"put"}), "a plan"), 8);
  REQUIRE(plan);
  CHECK(plan->at("exit_code") == 0);
  CHECK(plan->at("dry_run") == true);
  CHECK(plan->at("test") == "put");
  CHECK(plan->at("text") == "a plan");
}

TEST_CASE("what switches did is told beside their times") {
  Figure figure = some_figure(8, 1);
  figure.switching = true;
  figure.switches = 3;
  figure.longest_times.add(4 * kMillisecond);
  const Line line = line_of({"latency", "--switch-every", "5ms", "--size", "8"});
  const std::string row = table_row(line, figure);
  CHECK(says(row, "sm *"));
  CHECK(says(row, "3 switches"));
  CHECK(says(row, "max 4000 us"));
  const auto json = parse_json(json_text({line, 20, {figure}}), 8);
  CHECK(json->at("figures").at(0).at("switches") == 3);
  CHECK(json->at("figures").at(0).at("longest_in_a_switch_us").at("max") == doctest::Approx(4000));
}

TEST_CASE("bars show every time that was measured, in two dozen lines, with gaps between") {
  const Line line = line_of({"put", "--size", "8"});
  Figure figure = some_figure(8, 1);
  figure.times.add(kSecond);
  const std::string text = histogram_text(line, figure);
  CHECK(count_of(text, "\n") <= 26);
  CHECK(says(text, "..."));
  CHECK(says(text, "#"));
  CHECK(histogram_text(line, Figure{}).empty());
}

TEST_CASE("a picture has a curve for each transport, or for each percentile of several sizes") {
  Figure other = some_figure(8, 1);
  other.over = "a<b&c";
  const std::string one =
      plot_of({line_of({"latency", "--size", "8"}), 20, {some_figure(8, 1), other}});
  CHECK(one.starts_with("<svg "));
  CHECK(one.ends_with("</svg>\n"));
  CHECK(count_of(one, "<polyline") == 2);
  CHECK(says(one, "a&lt;b&amp;c"));
  CHECK_FALSE(says(one, "nan"));
  CHECK_FALSE(says(one, "inf"));
  const std::string several = plot_of(
      {line_of({"latency", "--size", "8,64"}), 20, {some_figure(8, 1), some_figure(64, 1)}});
  CHECK(count_of(several, "<polyline") == 2);
  CHECK(says(several, "sm, p99"));
  const std::string rates = plot_of(
      {line_of({"bandwidth", "--size", "8,64"}), 20, {some_figure(8, 64), some_figure(64, 64)}});
  CHECK(count_of(rates, "<polyline") == 1);
  CHECK(says(rates, "MB/s"));
}
