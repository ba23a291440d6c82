// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/metrics_text_test.cc -- the text for monitoring systems: both forms, its
// labels and its size.
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

/// What precedes the values: names and labels. Each occurs only once.
std::set<std::string> series_of(const std::string& text) {
  std::set<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const std::string one = line.substr(0, line.rfind(' '));
    CHECK_MESSAGE(series.insert(one).second, one);
  }
  return series;
}

}  // namespace

TEST_CASE("OpenMetrics: families are declared once, counters end in _total, and there is an end") {
  const std::string text = metrics_text({some_pages()}, MetricsForm::kOpenMetrics);
  CHECK(text.ends_with("\n# EOF\n"));
  CHECK(has(text,
            "livebtl_sent_bytes_total{user=\"alice\",mpi_job=\"job-1\",rank=\"0\",transport=\"sm\"}"
            " 10000"));
  CHECK(has(text, "# TYPE livebtl_sent_bytes counter"));
  CHECK(has(text, "livebtl_jobs 1"));
  CHECK(has(text, "livebtl_processes{user=\"alice\",mpi_job=\"job-1\"} 4"));
  CHECK(has(text,
            "livebtl_pairs{user=\"alice\",mpi_job=\"job-1\",rank=\"3\",transport=\"tcp\",lane="
            "\"ordered\"} 2"));
  CHECK(has(text, "livebtl_switch_unfinished{user=\"alice\",mpi_job=\"job-1\",rank=\"1\"} 0"));
  CHECK(text.find(",job=") == std::string::npos);  // Prometheus puts its scrape's name there
  std::set<std::string> families;
  std::istringstream lines(text);
  const std::regex sample(R"re([a-z_]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)+\})? -?[0-9.]+)re");
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
  CHECK(has(text, "livebtl_unreadable_pages{user=\"alice\",mpi_job=\"job-1\"} 1"));
  CHECK(has(text, "livebtl_processes{user=\"alice\",mpi_job=\"job-1\"} 5"));
  CHECK(has(metrics_text({}, MetricsForm::kOpenMetrics), "livebtl_jobs 0"));
}

TEST_CASE("a page counts for the directory that it lies in, not for the job that it names") {
  tool::Pages forged = some_pages();
  forged.user = "mallory";
  forged.job = "job-2";
  for (auto& page : forged.pages) page.job = "job-1";
  const std::string text = metrics_text({some_pages(), forged}, MetricsForm::kOpenMetrics);
  CHECK(has(text, "livebtl_epoch{user=\"alice\",mpi_job=\"job-1\",rank=\"0\"} 0"));
  CHECK(has(text, "livebtl_epoch{user=\"mallory\",mpi_job=\"job-2\",rank=\"0\"} 0"));
  CHECK(series_of(text).size() ==
        2 * series_of(metrics_text({forged}, MetricsForm::kOpenMetrics)).size() - 1);
}

TEST_CASE("no series is there twice: jobs of one name, of two users, in two directories, in one") {
  tool::Pages first = some_pages(), second = some_pages(), others = some_pages();
  others.user = "bob";
  second.pages.resize(1);
  second.pages[0].member.process = ProcessId{200};
  second.pages.push_back(first.pages[1]);  // the same process, from copied files
  second.unread.push_back({"rank 9", {Errc::kCorrupt, "no page"}});
  const std::string text = metrics_text({first, second, others}, MetricsForm::kOpenMetrics);
  series_of(text);
  CHECK(has(text, "livebtl_jobs 2"));
  CHECK(has(text, "livebtl_processes{user=\"alice\",mpi_job=\"job-1\"} 6"));
  CHECK(has(text, "livebtl_processes{user=\"bob\",mpi_job=\"job-1\"} 4"));
  for (const char* process : {"0000000000000064", "00000000000000c8"}) {
    const std::string labels = "{user=\"alice\",mpi_job=\"job-1\",rank=\"0\",process=\"";
    CHECK(has(text, "livebtl_epoch" + labels + process + "\"} 0"));
    CHECK(has(text, "livebtl_sent_bytes_total" + labels + process + "\",transport=\"sm\"} 10000"));
  }
  CHECK(has(text, "livebtl_epoch{user=\"alice\",mpi_job=\"job-1\",rank=\"1\"} 0"));
  CHECK(has(text, "livebtl_epoch{user=\"bob\",mpi_job=\"job-1\",rank=\"0\"} 0"));
  tool::Pages both = first;  // two runs in one directory
  both.pages.push_back(second.pages[0]);
  series_of(metrics_text({both}, MetricsForm::kOpenMetrics));
}
