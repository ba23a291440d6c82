// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/news_test.cc -- what livebtl-exporter says of what each scrape finds.
#include "ctl-tool/exporter/news.h"

#include <doctest/doctest.h>

using livebtl::tool::News;

TEST_CASE("what is wrong is said when it comes or changes, and not while it stays") {
  News news;
  CHECK_FALSE(news.is_new(""));
  CHECK(news.is_new("/tmp/livebtl-0 is open to other users"));
  CHECK_FALSE(news.is_new("/tmp/livebtl-0 is open to other users"));
  CHECK_FALSE(news.is_new("/tmp/livebtl-0 is open to other users"));
  CHECK(news.is_new("/tmp/livebtl-0 is not a directory"));
  CHECK_FALSE(news.is_new("/tmp/livebtl-0 is not a directory"));
}

TEST_CASE("what was wrong, was mended and is wrong again is said again") {
  News news;
  CHECK(news.is_new("a"));
  CHECK_FALSE(news.is_new(""));
  CHECK_FALSE(news.is_new(""));
  CHECK(news.is_new("a"));
}
