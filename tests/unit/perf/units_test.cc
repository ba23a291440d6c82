// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/units_test.cc -- sizes and times as people write them.
#include "perf/units.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::perf;

TEST_CASE("a size has a unit or none, and is at most a gibibyte") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("8") == 8);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("1M") == 1 << 20);
  CHECK(parse_size("1GiB") == kMessageBytesMax);
  for (const char* bad : {"", "K", "-1", "1.5M", "2G", "1T", "8 ", " 8", "99999999999999999999",
                          "18446744073709551615K"})
    CHECK_MESSAGE(!parse_size(bad), bad);
}

TEST_CASE("sizes are a list, a range in powers of two, or both") {
  using Sizes = std::vector<std::size_t>;
  CHECK(parse_sizes("8") == Sizes{8});
  CHECK(parse_sizes("8,1K") == Sizes{8, 1024});
  CHECK(parse_sizes("1:8") == Sizes{1, 2, 4, 8});
  CHECK(parse_sizes("3:13") == Sizes{3, 6, 12});
  CHECK(parse_sizes("0,4:8") == Sizes{0, 4, 8});
  CHECK(parse_sizes("1:1G")->size() == 31);
  for (const char* bad : {"", ",", "8,", "8:4", "0:4", "1:", ":4", "1:2:3", "1:2G"})
    CHECK_MESSAGE(!parse_sizes(bad), bad);
  CHECK(parse_sizes("1:1G,1:1G,1:1G").error().code == Errc::kLimit);
}

TEST_CASE("a time has a unit, and is at most an hour") {
  CHECK(parse_time("5ms") == 5 * kMillisecond);
  CHECK(parse_time("200us") == 200 * kMicrosecond);
  CHECK(parse_time("3600s") == 3600 * kSecond);
  for (const char* bad : {"", "5", "ms", "3601s", "-1s", "5 ms", "1h"})
    CHECK_MESSAGE(!parse_time(bad), bad);
}

TEST_CASE("sizes and numbers are shown short") {
  CHECK(size_text(8) == "8 B");
  CHECK(size_text(1500) == "1500 B");
  CHECK(size_text(65536) == "64 KiB");
  CHECK(size_text(1 << 20) == "1 MiB");
  CHECK(short_number(0.2136) == "0.214");
  CHECK(short_number(4.8) == "4.80");
  CHECK(short_number(48.04) == "48.0");
  CHECK(short_number(4820.4) == "4820");
}
