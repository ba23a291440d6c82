// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/metrics_text_test.cc -- the text for monitoring systems: both forms, labels, and its size.
#include "ctl-tool/metrics_text.h"

#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <sstream>

#include "some_pages.h"

using namespace livebtl;
using namespace livebtl::test;
using tool::metrics_text;
using tool::MetricsForm;

namespace {

bool has(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("OpenMetrics: families are declared once, counters end in _total, and there is an end") {
  const std::string text = metrics_text({some_pages()}, MetricsForm::kOpenMetrics);
  CHECK(text.ends_with("\n# EOF\n"));
  CHECK(has(text, "livebtl_sent_bytes_total{job=\"job-1\",rank=\"0\",transport=\"sm\"} 10000"));
  CHECK(has(text, "# TYPE livebtl_sent_bytes counter"));
  CHECK(has(text, "livebtl_jobs 1"));
  CHECK(has(text, "livebtl_processes{job=\"job-1\"} 4"));
  CHECK(has(text, "livebtl_pairs{job=\"job-1\",rank=\"3\",transport=\"tcp\",lane=\"ordered\"} 2"));
  CHECK(has(text, "livebtl_switch_unfinished{job=\"job-1\",rank=\"1\"} 0"));
  std::set<std::string> families;
  std::istringstream lines(text);
  const std::regex sample(R"re([a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)+\})? -?[0-9.]+)re");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) CHECK(families.insert(line).second);
    if (!line.starts_with("#")) CHECK_MESSAGE(std::regex_match(line, sample), line);
  }
  CHECK(families.size() > 20);
}

TEST_CASE("the older form names counters by their samples, and has no end") {
  const std::string text = metrics_text({some_pages()}, MetricsForm::kPrometheus);
  CHECK(has(text, "# TYPE livebtl_sent_bytes_total counter"));
  CHECK(text.find("# EOF") == std::string::npos);
}

TEST_CASE("a name from outside ends no label") {
  tool::Pages pages = some_pages();
  pages.pages[0].host = "a\"} 1\n\\evil";
  const std::string text = metrics_text({pages}, MetricsForm::kOpenMetrics);
  CHECK(text.find(R"(host="a\"} 1\n\\evil")") != std::string::npos);
}

TEST_CASE("there are as many lines as processes and transports, however many pairs") {
  tool::Pages pages = some_pages();
  const auto before = metrics_text({pages}, MetricsForm::kOpenMetrics).size();
  for (std::uint64_t i = 0; i < 60; ++i)
    pages.pages[0].pairs.push_back(pair_with(1'000 + i, "tcp", 0));
  CHECK(metrics_text({pages}, MetricsForm::kOpenMetrics).size() < before + 100);
}

TEST_CASE("a page that cannot be read is counted, and without a job there is still a document") {
  tool::Pages pages = some_pages();
  pages.unread.push_back({"rank 9", {Errc::kCorrupt, "no page"}});
  const std::string text = metrics_text({pages}, MetricsForm::kOpenMetrics);
  CHECK(has(text, "livebtl_unreadable_pages{job=\"job-1\"} 1"));
  CHECK(has(text, "livebtl_processes{job=\"job-1\"} 5"));
  CHECK(has(metrics_text({}, MetricsForm::kOpenMetrics), "livebtl_jobs 0"));
}
