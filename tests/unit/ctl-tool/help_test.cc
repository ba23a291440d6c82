// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/help_test.cc -- btlctl help, with a man that has the page, with one that does
// not, and without man; and --generate, which makes the pages.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Installs a man that has only the page btlctl-switch, and prints its arguments.
std::string with_man(const Scratch& files) {
  const std::string path = files / "man";
  write_file(path,
             "#!/bin/sh\n"
             "case \"$*\" in '-w 1 btlctl-switch') exit 0 ;; -w*) echo none >&2; exit 16 ;; esac\n"
             "echo \"page $*\"\n");
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  return "PATH='" + files / "" + "'; ";
}

}  // namespace

TEST_CASE("help becomes man where that has the page") {
  Node node;
  const Scratch files;
  const auto answer = node.shell(with_man(files) + "btlctl help switch");
  CHECK(answer.code == 0);
  CHECK(answer.out == "page 1 btlctl-switch\n");
  CHECK(answer.err.empty());
}

TEST_CASE("help prints what --help does where man has no page, or is not there") {
  Node node;
  const Scratch files;
  const std::string expected = node.btlctl({"list", "--help"}).out;
  for (const std::string& man : {with_man(files), std::string("PATH=/nowhere; ")}) {
    const auto answer = node.shell(man + "btlctl help list");
    CHECK(answer.code == 0);
    CHECK(answer.err.empty());
    CHECK(answer.out.find("Usage: btlctl list ") != std::string::npos);
    CHECK(answer.out.find("List the transports of a job") != std::string::npos);
    CHECK(answer.out == expected);
    CHECK(node.shell(man + "btlctl help").out.find("Exit codes:") != std::string::npos);
  }
}

TEST_CASE("a page's source is filled in from standard input, and a wrong one is an error") {
  Node node;
  const auto filled = node.shell("echo 'x @OPTIONS switch@' | btlctl --generate page");
  CHECK(filled.code == 0);
  CHECK(filled.out.find("*--scope* _SCOPE_") != std::string::npos);
  const auto wrong = node.shell("echo @NONSENSE@ | btlctl --generate page");
  CHECK(wrong.code == 1);
  CHECK(wrong.out.empty());
  CHECK(wrong.err.find("@NONSENSE@") != std::string::npos);
}
