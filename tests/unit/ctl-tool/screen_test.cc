// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/screen_test.cc -- tables on terminals of some width, with colours and without.
#include "ctl-tool/screen.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl-tool/table.h"

using namespace livebtl::tool;

namespace {

/// Standard output is a terminal of 20 columns as long as this lives.
class Terminal {
 public:
  Terminal() : before_(::dup(STDOUT_FILENO)) {
    winsize size{};
    size.ws_col = 20;
    REQUIRE(::openpty(&ours_, &theirs_, nullptr, nullptr, &size) == 0);
    ::fflush(stdout);
    ::dup2(theirs_, STDOUT_FILENO);
  }
  ~Terminal() {
    ::dup2(before_, STDOUT_FILENO);
    for (const int fd : {before_, ours_, theirs_}) ::close(fd);
  }

 private:
  int before_, ours_ = -1, theirs_ = -1;
};

Screen on_a_terminal(const CommandLine& line) {
  const Terminal terminal;
  return screen_of(line);
}

}  // namespace

TEST_CASE("a line is cut to the width, and characters are left whole") {
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdefg", 6) == "abc...");
  CHECK(cut_to("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 4) == "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f");
  CHECK(cut_to("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9fx", 4) == "\xc3\xa4...");
  CHECK(cut_to("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5) == "\xe4\xb8\xad...");
  CHECK(cut_to("abc", 0) == "abc");
}

TEST_CASE("rows are painted behind being cut, titles are not") {
  Table table({"A", "B"});
  table.add({"x", "a long text"}, Tone::kBad);
  table.add({"y", "z"});
  CHECK(table.text({}) == "A  B\nx  a long text\ny  z\n");
  CHECK(table.text({true, true, 10}) == "A  B\n\x1b[1;31mx  a lo...\x1b[0m\ny  z\n");
  CHECK(table.text({true, false, 10}) == "A  B\nx  a lo...\ny  z\n");
}

TEST_CASE(
    "a terminal has a width and colours, unless NO_COLOR, a dumb terminal or -o wide say "
    "otherwise") {
  CommandLine line;
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  CHECK(on_a_terminal(line).coloured);
  CHECK(on_a_terminal(line).columns == 20);
  ::setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(on_a_terminal(line).coloured);
  ::setenv("NO_COLOR", "", 1);
  CHECK(on_a_terminal(line).coloured);
  ::setenv("TERM", "dumb", 1);
  CHECK_FALSE(on_a_terminal(line).coloured);
  ::setenv("TERM", "xterm", 1);
  line.wide = true;
  CHECK(on_a_terminal(line).columns == SIZE_MAX);
  line.json = true;
  CHECK_FALSE(on_a_terminal(line).terminal);
}
