// SPDX-License-Identifier: BSD-3-Clause
// What a dump says of itself is not trusted; what CRIU says is found in its log.
#include "hypervisor/criu/criu_words.h"

#include <doctest/doctest.h>

#include "hypervisor/criu/criu_machine.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE("the facts of a dump come back as they were written") {
  const auto facts = read_facts(facts_text({{215, 219}, 215, 77, "a-job", 1000}));
  REQUIRE(facts);
  CHECK(facts->pids == std::vector<pid_t>{215, 219});
  CHECK(facts->root == 215);
  CHECK(facts->monotonic_s == 77);
  CHECK(facts->job == "a-job");
  CHECK(facts->owner == 1000);
}

TEST_CASE("facts that do not fit are refused") {
  for (
      const char* text :
      {"", "{}",
       R"({"schema":"livebtl.processes/1","root":1,"pids":[2],"monotonic_s":1,"owner":0})",
       R"({"schema":"livebtl.processes/1","root":2,"pids":[],"monotonic_s":1,"owner":0})",
       R"({"schema":"livebtl.processes/1","root":2,"pids":[-1],"monotonic_s":1,"owner":0})",
       R"({"schema":"livebtl.processes/1","root":2,"pids":[2],"monotonic_s":-1,"owner":0})",
       R"({"schema":"livebtl.processes/1","root":2,"pids":[2],"monotonic_s":1})",
       R"({"schema":"livebtl.processes/1","root":2,"pids":[2],"monotonic_s":1,"owner":4294967295})",
       R"({"schema":"livebtl.processes/2","root":2,"pids":[2],"monotonic_s":1,"owner":0})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_facts(text));
  }
}

TEST_CASE("root unpacks nothing outside of the places that files are taken from") {
  CHECK(check_file_list(""));
  CHECK(check_file_list("dev/shm/a\nrun/livebtl\ntmp/x/..y\nvar/tmp/b c\n"));
  for (const char* text :
       {"etc/passwd\n", "tmp/a\nusr/bin/ls\n", "tmp/../etc/passwd\n", "tmp/x/..\n", "/tmp/a\n",
        "tmpfile\n", "\n", "tmp/a", "tmp/a\n--to-command=sh\n"}) {
    CAPTURE(text);
    CHECK_FALSE(check_file_list(text));
  }
}

TEST_CASE("the script quotes whatever a path holds") {
  const std::string script = dump_script("/a'b/images", "/a'b/vm1.criu", {9, 9}, {});
  CHECK(script.find("'/a'\\''b/images'/livebtl-files.tar") != std::string::npos);
}

TEST_CASE("the last error is the cause, not that it failed") {
  CHECK(last_error("(0.1) Error (a.c:1): one\n(0.2) Warn  (b.c:1): no\n(0.3) Error (a.c:2): two\n"
                   "(0.4) Error (cr-dump.c:3): Dumping FAILED.\n") == "Error (a.c:2): two");
  CHECK(last_error("(0.1) fine\n").empty());
}

TEST_CASE("interrupted before the processes are ended a dump goes back, and not after") {
  DumpMachine early("vm1", false);
  for (int step = 0; step < 4; ++step) early.answer({});
  REQUIRE(early.next().step == Step::kSave);
  DumpMachine late = early;
  early.interrupt();
  CHECK(early.next().step == Step::kEndHold);
  late.answer({});
  late.interrupt();
  CHECK(late.next().step == Step::kSeal);
  late.answer({Outcome::kFailed, kCodeTakenBack, "the disk is full"});
  CHECK(late.next().step == Step::kEnd);
  CHECK(late.end().code == kCodeNotReturned);
}
