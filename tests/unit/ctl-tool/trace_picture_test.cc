// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/trace_picture_test.cc -- switches as a picture: it has each process and rung,
// and no text from a peer escapes its place.
#include "ctl-tool/trace_picture.h"

#include <doctest/doctest.h>

#include "occurrences.h"
#include "some_pages.h"

using namespace livebtl;
using namespace livebtl::test;
using tool::merge_history;
using tool::occurrences;
using tool::picture_of_switches;

namespace {

std::string picture(const tool::Pages& pages) {
  return picture_of_switches(pages.pages, merge_history(pages.pages, 8));
}

constexpr const char* kBar = "height=\"14.0\"";

}  // namespace

TEST_CASE("a row a process and a bar a rung, of each switch") {
  tool::Pages pages = some_pages();
  for (auto& page : pages.pages)
    page.switches = {remembered(1, 5 * kMillisecond), remembered(2, kMillisecond, "its marker")};
  const std::string text = picture(pages);
  CHECK(text.starts_with("<svg "));
  CHECK(occurrences(text, ">rank 3 on b</text>") == 2);
  CHECK(occurrences(text, kBar) == 2 * 4 * 3);
  CHECK(occurrences(text, "newtx: 5 ms</title>") == 4);
  CHECK(occurrences(text, "waited for its marker</title>") == 4);
  CHECK(occurrences(text, "switch sm tcp: done, 7 ms</text>") == 1);
}

TEST_CASE("a rung that is not reached, the way back and a loss are told apart") {
  tool::Pages pages = some_pages();
  for (auto& page : pages.pages) page.switches = {remembered(1, 5 * kMillisecond)};
  auto& record = pages.pages[0].switches[0];
  record.rungs[1].reached = false;
  record.rungs[2].undoing = true;
  control::LossView loss;
  loss.transport = "tcp";
  loss.why = "reset";
  loss.unix_ms = 3;  // long before
  pages.pages[1].losses.push_back(loss);
  loss.unix_ms = 1'003;  // 3 ms after the first order
  pages.pages[1].losses.push_back(loss);
  const std::string text = picture(pages);
  CHECK(occurrences(text, "not reached</title>") == 1);
  CHECK(occurrences(text, "fill-opacity") == 1);
  CHECK(occurrences(text, "<circle") == 1);
  CHECK(occurrences(text, "path lost: tcp, reset") == 1);
}

TEST_CASE("a switch that took no time, and a job that was never switched, have a picture") {
  tool::Pages pages = some_pages();
  CHECK(picture(pages).find("no switch is remembered") != std::string::npos);
  for (auto& page : pages.pages) {
    page.switches = {remembered(1, 0)};
    for (auto& rung : page.switches[0].rungs) rung.ordered_ns = rung.reached_ns = 0;
  }
  const std::string text = picture(pages);
  CHECK(occurrences(text, kBar) == 4 * 3);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("of many processes 64 are drawn, and the others counted") {
  tool::Pages pages = some_pages();
  const auto page = pages.pages[0];
  pages.pages.assign(70, page);
  for (auto& each : pages.pages) each.switches = {remembered(1, kMillisecond)};
  const std::string text = picture(pages);
  CHECK(occurrences(text, kBar) == 64 * 3);
  CHECK(text.find("(6 processes more)") != std::string::npos);
}

TEST_CASE("what a process says of itself stays text") {
  tool::Pages pages = some_pages();
  pages.pages[0].name = "<script>\"&\x1b[2J";
  for (auto& page : pages.pages) page.switches = {remembered(1, kMillisecond, "</title><x>")};
  const std::string text = picture(pages);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("<x>") == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}
