// SPDX-License-Identifier: BSD-3-Clause
// Log lines: levels, prefix, one line each whatever a stranger sends, and the limit on lines that
// strangers can cause.
#include "base/log.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "captured_stderr.h"

using namespace livebtl;
using test::captured_stderr;

namespace {
struct RestoredLog {
  ~RestoredLog() {
    set_log_level(LogLevel::kWarn);
    set_log_prefix("livebtl");
  }
};
}  // namespace

TEST_CASE("a line has prefix, level, subsystem and text") {
  const RestoredLog restore;
  set_log_prefix("livebtl[rank 3]");
  const std::string text =
      captured_stderr([] { log(LogLevel::kError, "tcp", "path lost peer=%d", 7); });
  CHECK(text == "livebtl[rank 3] error tcp: path lost peer=7\n");
}

TEST_CASE("only lines up to the level are written") {
  const RestoredLog restore;
  set_log_level(LogLevel::kInfo);
  const std::string text = captured_stderr([] {
    log(LogLevel::kDebug, "a", "hidden");
    log(LogLevel::kInfo, "a", "shown");
  });
  CHECK(text == "livebtl info a: shown\n");
}

TEST_CASE("control characters cannot forge a second line") {
  const std::string text = captured_stderr(
      [] { log(LogLevel::kError, "hello", "label=%s", "x\nlivebtl error y: z\x1b[2J"); });
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(text.find('\x1b') == std::string::npos);
  // U+009B, which some terminals take for the beginning of an escape sequence.
  const std::string single = captured_stderr([] {
    log(LogLevel::kError, "hello", "label=%s",
        "x\xc2\x9b"
        "2J");
  });
  CHECK(single.find("label=x??2J") != std::string::npos);
}

TEST_CASE("a line that is too long is cut and still ends") {
  const std::string long_text(5000, 'x');
  const std::string text =
      captured_stderr([&] { log(LogLevel::kError, "a", "%s", long_text.c_str()); });
  CHECK(text.size() <= 1024);
  CHECK(text.size() > 900);
  CHECK(text.back() == '\n');
}

TEST_CASE("a prefix that is too long leaves room for the text") {
  const RestoredLog restore;
  set_log_prefix(std::string(3000, 'p'));
  const std::string text = captured_stderr([] { log(LogLevel::kError, "a", "text"); });
  CHECK(text.ends_with("error a: text\n"));
}

TEST_CASE("a limit allows a burst an interval and counts the rest") {
  LogLimit limit(2, kSecond);
  CHECK(limit.allow(0));
  CHECK(limit.allow(1));
  CHECK_FALSE(limit.allow(2));
  CHECK_FALSE(limit.allow(kSecond - 1));
  CHECK(limit.suppressed() == 2);
  CHECK(limit.allow(kSecond));
}
