// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/merged_history_test.cc -- what a job's members remember of a switch, merged.
#include "ctl-tool/merged_history.h"

#include <doctest/doctest.h>

#include "some_pages.h"

using namespace livebtl;
using namespace livebtl::test;
using control::Rung;
using tool::merge_history;

TEST_CASE("a rung took as long as in its slowest process, which is named with its reason") {
  tool::Pages pages = some_pages();
  for (auto& page : pages.pages) {
    const bool slow = page.rank == 2;
    page.switches = {remembered(5, slow ? 40 * kMillisecond : 3 * kMillisecond,
                                slow ? "the marker of rank 0" : "")};
  }
  const auto merged = merge_history(pages.pages, 8);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].members == 4);
  CHECK(merged[0].milliseconds == doctest::Approx(42.0));
  CHECK(merged[0].what.pairs_moved == 2);  // each has two ends
  REQUIRE(merged[0].rungs.size() == 3);
  CHECK(merged[0].rungs[0].slow.empty());
  CHECK(merged[0].rungs[1].milliseconds == doctest::Approx(40.0));
  REQUIRE(merged[0].rungs[1].slow.size() == 1);
  CHECK(merged[0].rungs[1].slow[0].rank == 2);
  CHECK(merged[0].rungs[1].slow[0].waited_for == "the marker of rank 0");
  CHECK(merged[0].rungs[1].reached == 4);
}

TEST_CASE("one process that has not come so far makes the switch unfinished, and is named") {
  tool::Pages pages = some_pages();
  for (auto& page : pages.pages) page.switches = {remembered(5, kMillisecond)};
  auto& behind = pages.pages[3].switches[0];
  behind.end = control::SwitchEnd::kUnderWay;
  behind.rungs.pop_back();
  behind.rungs.back().reached = false;
  const auto merged = merge_history(pages.pages, 8);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].what.end == control::SwitchEnd::kUnderWay);
  CHECK(merged[0].rungs[1].reached == 3);
  REQUIRE(merged[0].rungs[1].slow.size() == 1);
  CHECK(merged[0].rungs[1].slow[0].name == "rank 3 on b");
  CHECK_FALSE(merged[0].rungs[1].slow[0].reached);
  CHECK(merged[0].rungs[2].members == 3);
}

TEST_CASE("switches are in the order of their beginning, and the newest are kept") {
  tool::Pages pages = some_pages();
  pages.pages[0].switches = {remembered(1, 0), remembered(2, 0)};
  pages.pages[1].switches = {remembered(2, 0), remembered(3, 0)};
  const auto all = merge_history(pages.pages, 8);
  REQUIRE(all.size() == 3);
  CHECK(all[0].what.operation == 1);
  CHECK(all[2].what.operation == 3);
  const auto last = merge_history(pages.pages, 1);
  REQUIRE(last.size() == 1);
  CHECK(last[0].what.operation == 3);
  CHECK(merge_history({}, 8).empty());
}

TEST_CASE("a rung that was ordered twice is two rungs") {
  tool::Pages pages = some_pages();
  control::SwitchRecord record = remembered(5, kMillisecond);
  record.rungs = {{Rung::kJoint, false, 0, 1, true, ""},
                  {Rung::kOld, true, 2, 3, true, ""},
                  {Rung::kJoint, false, 4, 9 * kMillisecond, true, ""}};
  pages.pages[0].switches = pages.pages[1].switches = {record};
  const auto merged = merge_history(pages.pages, 8);
  REQUIRE(merged.at(0).rungs.size() == 3);
  CHECK(merged[0].rungs[0].milliseconds < 1.0);
  CHECK(merged[0].rungs[1].undoing);
  CHECK(merged[0].rungs[2].milliseconds > 8.0);
}

TEST_CASE("all who refused are named, and a node by its host") {
  tool::Pages pages = some_pages();
  for (auto& page : pages.pages) page.switches = {remembered(5, kMillisecond)};
  for (const std::size_t i : {1u, 3u}) pages.pages[i].switches[0].refusal = "no room";
  for (auto& page : pages.pages) page.switches[0].node = pages.pages[3].node;
  const auto merged = merge_history(pages.pages, 8);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].refusals == std::vector<std::string>{pages.pages[1].name + ": no room",
                                                       pages.pages[3].name + ": no room"});
  const std::string title = tool::title_of_switch(merged[0].what, pages.pages);
  CHECK(title.ends_with(" on node " + pages.pages[3].host));
  CHECK(pages.pages[3].host != pages.pages[3].node);
  CHECK(tool::title_of_switch(merged[0].what, {}).ends_with(" on node " + pages.pages[3].node));
}
