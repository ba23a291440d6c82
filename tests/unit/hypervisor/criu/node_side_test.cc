// SPDX-License-Identifier: BSD-3-Clause
// One node's part in a dump and restore of several: a played CRIU, real archives and scripts.
#include "hypervisor/criu/node_side.h"

#include "hypervisor/criu/node_words.h"
#include "tests/unit/hypervisor/criu/node_caller.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE("a node that is told to go ends its processes, and tells of its file") {
  Stage stage;
  Caller caller{{order_line(dump_order(stage)), kGo}};
  CHECK(caller.call(stage.request()) == 0);
  REQUIRE(caller.answers.size() == 2);
  CHECK_MESSAGE(caller.answers[0].code == 0, caller.answers[0].text);
  CHECK(caller.answers[0].members == 1);
  CHECK(caller.answers[0].file.bytes == std::filesystem::file_size(stage.path("set/vm1.criu")));
  CHECK(caller.answers[1].code == 0);
  CHECK(stage.job_ends());
  CHECK_FALSE(stage.has("set/vm1.images"));
  // For the order, and for "go": beyond the time-out of the caller, who needs a moment too.
  REQUIRE(caller.waits.size() == 2);
  CHECK(caller.waits[1] == 660 * kSecond);
}

TEST_CASE(
    "a node that is not told to go lets its processes go on, and keeps its file if it cannot know "
    "whether others were") {
  for (const bool told : {false, true}) {
    CAPTURE(told);
    Stage stage;
    Caller caller{{order_line(dump_order(stage))}};
    if (told) caller.lines.emplace_back(kUndo);
    CHECK(caller.call(stage.request()) == 5);
    REQUIRE(caller.answers.size() == 1);
    CHECK(caller.answers[0].code == 0);
    CHECK(stage.job_lives());
    CHECK(stage.has("set/vm1.criu") != told);
    CHECK_FALSE(stage.has("set/vm1.images"));
  }
}

TEST_CASE("a node whose CRIU fails once all were told to go keeps its file") {
  Stage stage;
  stage.put("fail-criu-end", "", 0600);
  Caller caller{{order_line(dump_order(stage)), kGo}};
  CHECK(caller.call(stage.request()) == 5);
  REQUIRE(caller.answers.size() == 2);
  CHECK(caller.answers[1].code == 5);
  CHECK(stage.has("set/vm1.criu"));
}

TEST_CASE(
    "the file of processes that go on is removed if the set was not sealed, and that is said") {
  for (const char* const word : {kKeep, kUndo, ""}) {
    CAPTURE(word);
    Stage stage;
    NodeOrder order = dump_order(stage);
    order.goes_on = true;
    Caller caller{{order_line(order), kGo}};
    if (*word != '\0') caller.lines.emplace_back(word);
    CHECK(caller.call(stage.request()) == (std::string(word) == kKeep ? 0 : 5));
    CHECK(stage.job_lives());
    CHECK(stage.has("set/vm1.criu") == (std::string(word) != kUndo));
    CHECK(stage.has("set/vm1.kept") == (std::string(word) != kUndo));
  }
}

TEST_CASE("a node leaves alone a set that is in its directory already") {
  Stage stage;
  dump(stage);
  stage.put("set/set.json", "{}", 0600);
  const std::string before = stage.text("set/vm1.criu");
  Caller caller{{order_line(dump_order(stage)), kGo}};
  CHECK(caller.call(stage.request()) == 5);
  CHECK(caller.answers.at(0).code == 3);
  CHECK(stage.text("set/vm1.criu") == before);
}

TEST_CASE(
    "a file that a set may have been made of is left alone, though set.json is on another node") {
  for (const bool goes_on : {false, true}) {
    CAPTURE(goes_on);
    Stage stage;
    NodeOrder order = dump_order(stage);
    order.goes_on = goes_on;
    Caller first{{order_line(order), kGo, kKeep}};
    REQUIRE(first.call(stage.request()) == 0);
    const std::string before = stage.text("set/vm1.criu");
    Caller caller{{order_line(order), kGo, kKeep}};
    CHECK(caller.call(stage.request()) == 5);
    CHECK(caller.answers.at(0).code == 3);
    CHECK(caller.answers.at(0).text.find("vm1.kept") != std::string::npos);
    CHECK(stage.text("set/vm1.criu") == before);
    if (!goes_on) continue;
    // Once deleted by hand, as the text says, it is in nobody's way.
    std::filesystem::remove(stage.path("set/vm1.kept"));
    Caller again{{order_line(order), kGo, kKeep}};
    CHECK(again.call(stage.request()) == 0);
  }
}

TEST_CASE(
    "a relay that cannot be ended, a lease that is over, and CRIU's failure are told, and undone") {
  struct Case {
    bool relay_ends;
    std::int64_t lease_left_s;
    const char *fails, *says;
  };
  const Case cases[] = {{false, 600, "", "it does not end"},
                        {true, 0, "", "--lease must be longer"},
                        {true, 600, "fail-criu-dump", "it was told to fail"}};
  for (const Case& each : cases) {
    CAPTURE(each.says);
    Stage stage;
    if (*each.fails != '\0') stage.put(each.fails, "1", 0600);
    CriuRequest tools = stage.request();
    if (!each.relay_ends)
      tools.still_relay = [] { return Result<Fd>(fail(Errc::kTimeout, "it does not end")); };
    NodeOrder order = dump_order(stage);
    order.lease_left_s = each.lease_left_s;
    Caller caller{{order_line(order), kGo}};
    CHECK(caller.call(tools) == 5);
    REQUIRE(caller.answers.size() == 1);
    CHECK(caller.answers[0].code == 5);
    CHECK_MESSAGE(caller.answers[0].text.find(each.says) != std::string::npos,
                  caller.answers[0].text);
    CHECK(stage.job_lives());
    CHECK_FALSE(stage.has("set"));
  }
}

TEST_CASE(
    "a node restores what it is told to, up to where none has sent anything, and then beyond") {
  Stage stage;
  const NodeAnswer dumped = dump(stage);
  std::filesystem::remove_all(stage.path("job"));
  Caller gone{{order_line(restore_order(stage, dumped))}};
  CHECK(gone.call(stage.request()) == 5);
  CHECK(gone.answers.at(0).code == 0);
  CHECK(gone.answers.at(0).job == "a-job");
  CHECK(gone.answers.at(0).owner == ::geteuid());
  CHECK_FALSE(stage.has("restored"));
  Caller caller{{order_line(restore_order(stage, dumped)), kGo, kKeep}};
  CHECK(caller.call(stage.request()) == 0);
  CHECK(caller.answers.at(1).code == 0);
  CHECK(stage.has("restored"));
  CHECK(stage.text("job/card") == "a card");
  CHECK_FALSE(stage.has("set/vm1.images"));
}

TEST_CASE("a file with another checksum than the set's is refused by name") {
  Stage stage;
  NodeAnswer dumped = dump(stage);
  dumped.file.crc32c ^= 1;
  Caller caller{{order_line(restore_order(stage, dumped)), kGo}};
  CHECK(caller.call(stage.request()) == 5);
  CHECK(caller.answers.at(0).code == 8);
  CHECK(caller.answers.at(0).text.find("vm1.criu") != std::string::npos);
  CHECK(stage.calls().empty());
}

TEST_CASE("what is no order is refused") {
  Stage stage;
  for (const char* line :
       {"", "{}", "go", R"({"schema":"livebtl.node/1","verb":"dump"})",
        R"({"schema":"livebtl.node/1","verb":"restore","directory":"/d","node":"vm1","hold":"0x1",)"
        R"("lease_left_s":0,"timeout_s":9,"bytes":1,"crc32c":1,"addresses":["10.0.0.2"]})"}) {
    Caller caller{{line}};
    CHECK(caller.call(stage.request()) == 1);
    CHECK(caller.answers.at(0).code == 1);
  }
  CHECK(stage.job_lives());
}
