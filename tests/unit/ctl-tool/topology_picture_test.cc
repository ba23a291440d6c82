// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/topology_picture_test.cc -- what joins which processes, and its picture.
#include "ctl-tool/topology_picture.h"

#include <doctest/doctest.h>

#include "occurrences.h"
#include "some_pages.h"

using namespace livebtl;
using namespace livebtl::test;
using tool::occurrences;
using tool::picture_of;
using tool::topology_of;

TEST_CASE("each pair is one link, each node one box") {
  const auto topology = topology_of(some_pages());
  CHECK(topology.nodes.size() == 2);
  CHECK(topology.processes.size() == 4);
  CHECK(topology.links.size() == 6);
  const std::string picture = picture_of(topology);
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  CHECK(occurrences(picture, "<circle") == 4);
  CHECK(occurrences(picture, "rx=\"10\"") == 2);
  CHECK(occurrences(picture, "<line") == 6 + 2);  // plus the legend
  CHECK(picture.find("sm: 2 pairs") != std::string::npos);
  CHECK(picture.find("tcp: 4 pairs") != std::string::npos);
}

TEST_CASE("a pair whose ends differ is two halves, absent ranks are dashed, work is marked") {
  tool::Pages pages = some_pages();
  pages.pages[0].pairs[0].sending = "tcp";  // rank 1 still sends on sm
  pages.pages[2].reached = false;
  pages.pages[3].transports[0].absent = "no device";
  pages.missing = {2, 6, {4, 5}};
  const std::string picture = picture_of(topology_of(pages));
  CHECK(occurrences(picture, "stroke-dasharray=\"6 4\"") == 2);
  CHECK(occurrences(picture, "stroke-dasharray=\"4 4\"") == 2);
  CHECK(occurrences(picture, "#ffe8a3") == 1);
  CHECK(picture.find("2 absent") != std::string::npos);
  CHECK(picture.find("absent: sm") != std::string::npos);
}

TEST_CASE("of processes that are missing, those are named whom others know as their peers") {
  tool::Pages pages = some_pages();
  pages.pages.resize(2);
  CHECK(topology_of(pages).unseen.empty());  // nobody is missing: they have left
  pages.missing = {2, 4, {2, 3}};
  CHECK(topology_of(pages).unseen == std::vector<std::string>{"rank 2 on a", "rank 3 on a"});
}

TEST_CASE("a name from outside is text in the picture, and no markup") {
  tool::Pages pages = some_pages();
  pages.pages[0].host = pages.pages[1].host = "<script>&\"";
  const std::string picture = picture_of(topology_of(pages));
  CHECK(picture.find("<script>") == std::string::npos);
  CHECK(picture.find("&lt;script&gt;&amp;&quot;") != std::string::npos);
}

TEST_CASE("a job without a process has a picture, and a large node is cut") {
  CHECK(picture_of(topology_of({})).ends_with("</svg>\n"));
  tool::Pages pages = some_pages();
  const control::PageView like = pages.pages[0];
  for (std::uint64_t i = 0; i < 200; ++i) {
    pages.pages.push_back(like);
    pages.pages.back().member.process = ProcessId{1'000 + i};
  }
  const std::string picture = picture_of(topology_of(pages));
  CHECK(occurrences(picture, "<circle") == 64 + 2);
  CHECK(picture.find("more)") != std::string::npos);
}
