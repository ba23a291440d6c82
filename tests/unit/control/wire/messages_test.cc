// SPDX-License-Identifier: BSD-3-Clause
// messages_test.cc -- every message survives the way through JSON; malformed ones are refused, by
// name.
#include "control/wire/messages.h"

#include <doctest/doctest.h>

#include "control/wire/json_archive.h"
#include "tests/unit/control/wire/through.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::through;

namespace {

Operation some_operation() {
  Operation operation;
  operation.id = 0xfedcba9876543210ULL;
  operation.verb = "switch";
  operation.arguments = {"sm", "tcp"};
  operation.before.excluded = {"verbs"};
  operation.after.excluded = {"verbs"};
  operation.after.moved = {{"sm", "tcp"}};
  operation.after.tuning["tcp"].weight = 7;
  return operation;
}

Order some_order() {
  Order order;
  order.job = "job-1";
  order.term = {3, 0xffffffffffffffffULL};
  order.seq = 9;
  order.epoch = 4;
  order.rung = Rung::kNewTx;
  order.undoing = true;
  order.operation = some_operation();
  return order;
}

Standing some_standing() {
  Standing standing;
  standing.member = {ProcessId{77}, Incarnation{2}};
  standing.name = "rank 3 on node17";
  standing.rank = 3;
  standing.node = "n1";
  standing.term = {3, 5};
  standing.seq = 9;
  standing.version = 12;
  standing.rung = Rung::kJoint;
  standing.reached = false;
  standing.busy = true;
  standing.refused_seq = 9;
  standing.operation = some_operation();
  standing.report.refusal = "cut off";
  standing.report.pairs = {"rank 1 on node2"};
  standing.routing = standing.operation.before;
  standing.transports = {{"sm", "vader"}, {"tcp", ""}};
  standing.announced = 4;
  return standing;
}

Json as_json(const Message& message) { return Json::parse(*encode(message)); }

Error refused(const Json& json) {
  const auto result = decode(json.dump());
  REQUIRE_FALSE(result);
  return result.error();
}

bool mentions(const Error& error, const char* what) {
  return error.text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("an order comes out as it went in") {
  const Order order = through(some_order());
  CHECK(order.job == "job-1");
  CHECK(order.term == Term{3, 0xffffffffffffffffULL});
  CHECK(order.seq == 9);
  CHECK(order.epoch == 4);
  CHECK(order.rung == Rung::kNewTx);
  CHECK(order.undoing);
  CHECK(order.operation == some_operation());
}

TEST_CASE("a standing comes out as it went in") {
  const Standing standing = through(some_standing());
  CHECK(standing.member == MemberId{ProcessId{77}, Incarnation{2}});
  CHECK(standing.version == 12);
  CHECK(standing.refused_seq == 9);
  CHECK_FALSE(standing.reached);
  CHECK(standing.report.pairs == std::vector<std::string>{"rank 1 on node2"});
  CHECK(standing.transports == some_standing().transports);
}

TEST_CASE("as many nodes as may have rules of their own can be told of") {
  StatusAnswer status;
  status.standing = some_standing();
  Routing routing;
  for (std::uint64_t node = 0;; ++node) {
    const std::string digits = std::to_string(node);
    const std::string name = std::string(16 - digits.size(), '0') + digits;
    const auto more = apply_verb("checkpoint", {"prepare", "verbs"}, routing, name);
    if (!more) break;
    routing = *more;
    REQUIRE(node < 1000);
  }
  status.standing.operation.before = status.standing.operation.after = routing;
  status.standing.routing = status.engine.routing = routing;
  const auto text = encode(Message(status));
  REQUIRE(text);
  CHECK(text->size() < kMessageBytesMax * 3 / 4);
  CHECK(through(status).standing.routing.nodes.size() > 100);
}

TEST_CASE("every other message goes through") {
  through(StandingRequest{"j"});
  CHECK(through(PromiseRequest{"j", {1, 2}, true}).takeover);
  through(LadderEnd{"j", {1, 2}});
  through(PlanRequest{"j", some_operation().after});
  core::RoutingPlan plan;
  plan.moves["sm"]["tcp"] = 3;
  plan.cut_off = {"rank 2"};
  CHECK(through(PlanAnswer{{ProcessId{1}, {}}, "rank 1", plan}).plan.moves["sm"]["tcp"] == 3);
  through(MembersRequest{"j", 3});
  MembersAnswer members{"j", 0, 1, true, {{{ProcessId{1}, {}}, "rank 0", 0, "n", true}}, {}};
  CHECK(through(members).members == members.members);
  through(StatusRequest{"j", true, 9});
  StatusAnswer status{some_standing(), {}, 0, 1};
  status.engine.peers.resize(1);
  status.engine.peers[0].frames_sent["tcp"] = 0xffffffffffffffffULL;
  status.engine.transports.resize(2);
  CHECK(through(status).engine.peers[0].frames_sent["tcp"] == 0xffffffffffffffffULL);
  through(ListRequest{"j"});
  through(ListAnswer{{ProcessId{1}, {}}, "rank 1", 1, "n", {{}}});
  CHECK(through(WatchRequest{"j", 500}).lease_ms == 500);
  through(WatchEvent{"left", some_standing()});
  CHECK(through(AddressesRequest{"j", 5}).question == 5);
  const core::Contacts contacts = {{"tcp", {std::byte{0}, std::byte{0xaf}}}, {"sm", {}}};
  const auto answer = through(AddressesAnswer{{ProcessId{7}, {}}, 5, contacts});
  CHECK(answer.addresses == contacts);
  CHECK(answer.question == 5);
  CHECK(through(ErrorAnswer{Errc::kAuth, "no"}).code == Errc::kAuth);
}

TEST_CASE("a secret is whole or absent, and only members are asked for without a job") {
  through(SecretRequest{"j"});
  CHECK(through(SecretAnswer{std::string(64, 'a')}).secret == std::string(64, 'a'));
  CHECK(through(SecretAnswer{}).secret.empty());
  CHECK_FALSE(decode(*encode(SecretAnswer{"abc"})));
  CHECK_FALSE(decode(*encode(SecretAnswer{std::string(64, 'x')})));
  CHECK(through(MembersRequest{"", 0}).job.empty());
  CHECK_FALSE(decode(*encode(ListRequest{""})));
}

TEST_CASE("addresses that do not fit into a hello are refused") {
  AddressesAnswer good{{ProcessId{7}, {}}, 5, {{"tcp", Blob(512)}}};
  for (int i = 0; i < 7; ++i) good.addresses["t" + std::to_string(i)] = Blob(1);
  through(good);
  AddressesAnswer many = good, long_one = good, odd = good, nobody = good;
  many.addresses["t7"] = Blob(1);
  long_one.addresses["tcp"] = Blob(513);
  odd.addresses.erase("tcp");
  odd.addresses["tcp/ip"] = Blob(1);
  nobody.member.process = ProcessId{};
  CHECK(mentions(refused(as_json(many)), "more than 8"));
  CHECK(mentions(refused(as_json(long_one)), "addresses.tcp"));
  CHECK(mentions(refused(as_json(odd)), "no transport"));
  CHECK(mentions(refused(as_json(nobody)), "member.process"));
  for (const char* text : {"0", "0g", "0A", "zz", " 00", "0x00"}) {
    Json json = as_json(good);
    json["addresses"]["tcp"] = text;
    CHECK(mentions(refused(json), "addresses.tcp"));
  }
  for (const Json& wrong : {Json(1), Json(nullptr), Json::array(), Json::object()}) {
    Json json = as_json(good);
    json["addresses"]["tcp"] = wrong;
    CHECK(mentions(refused(json), "addresses.tcp"));
  }
}

TEST_CASE("what is not JSON, not an object or not ours is refused") {
  for (const char* text : {"", " ", "{", "[]", "1", "\"x\"", "null", "{}", "{\"schema\":1}",
                           "{\"schema\":\"livebtl.order\"}", "{\"schema\":\"\"}", "{\"a\":1,}",
                           "{\"schema\":\"livebtl.list-request/1\",\"job\":\"a\"} x", "\xff\xfe"}) {
    CHECK_FALSE(decode(text));
  }
  Json json = as_json(some_order());
  json["schema"] = "livebtl.order/2";
  CHECK(refused(json).code == Errc::kUnsupported);
}

TEST_CASE("each missing field of an order is refused by its name") {
  const Json whole = as_json(some_order());
  for (const auto& [key, value] : whole.items()) {
    Json cut = whole;
    cut.erase(key);
    if (key != "by") CHECK(mentions(refused(cut), ("'" + key + "'").c_str()));
  }
}

TEST_CASE("an order of an earlier version does not say who orders it") {
  Json cut = as_json(some_order());
  cut.erase("by");
  const auto order = decode(cut.dump());
  REQUIRE(order);
  CHECK(std::get<Order>(*order).by.empty());
}

TEST_CASE("each field of a wrong type is refused by its name") {
  const Json whole = as_json(some_standing());
  for (const auto& [key, value] : whole.items()) {
    if (key == "schema") continue;
    for (const Json& wrong : {Json(nullptr), Json(1.5), Json(Json::array({Json::array()}))}) {
      Json broken = whole;
      broken[key] = wrong;
      CHECK(mentions(refused(broken), ("'" + key).c_str()));
    }
  }
}

TEST_CASE("numbers out of range are refused") {
  const auto with = [](const char* key, const Json& value) {
    Json json = as_json(some_order());
    json[key] = value;
    return decode(json.dump());
  };
  CHECK_FALSE(with("epoch", -1));
  CHECK_FALSE(with("epoch", 4294967296));
  CHECK(with("epoch", 4294967295));
  CHECK_FALSE(with("seq", 1));
  CHECK_FALSE(with("seq", "1"));
  CHECK_FALSE(with("seq", "0x"));
  CHECK_FALSE(with("seq", "0x1g"));
  CHECK_FALSE(with("seq", "0x-1"));
  CHECK_FALSE(with("seq", "0x11112222333344445"));
  CHECK_FALSE(with("seq", "0x0"));
  CHECK(with("seq", "0xffffffffffffffff"));
  CHECK_FALSE(with("rung", "top"));
  CHECK_FALSE(with("rung", 2));
  Json standing = as_json(some_standing());
  for (const Json& rank : {Json(-2), Json(2147483648), Json(18446744073709551615ULL)}) {
    standing["rank"] = rank;
    CHECK_FALSE(decode(standing.dump()));
  }
}

TEST_CASE("names from outside stay plain: no path, no control character, no surprise") {
  for (const char* name :
       {"", "../x", "a b", "a/b", "a\n", "0123456789012345678901234567890123456"}) {
    Json json = as_json(some_order());
    json["operation"]["after"]["excluded"] = Json::array({name});
    CHECK_FALSE(decode(json.dump()));
  }
  for (const char* job : {"", "../x", "a b", "\xc3\xa9"}) {
    CHECK_FALSE(decode(as_json(StandingRequest{job}).dump()));
  }
  Json json = as_json(some_order());
  json["operation"]["verb"] = "destroy";
  CHECK_FALSE(decode(json.dump()));
}

TEST_CASE("unknown keys are ignored, repeated ones are not") {
  Json json = as_json(some_order());
  json["later"] = {{"deep", Json::array({1, 2, 3})}};
  json["operation"]["later"] = true;
  CHECK(decode(json.dump()));
  CHECK_FALSE(decode(R"({"schema":"livebtl.list-request/1","job":"a","job":"b"})"));
  CHECK(decode(R"({"schema":"livebtl.list-request/1","job":"a"})"));
}

TEST_CASE("depth and size have limits, on both sides") {
  const auto nested = [](int depth) {
    std::string open, close;
    for (int i = 0; i < depth; ++i) {
      open += '[';
      close += ']';
    }
    return R"({"schema":"livebtl.list-request/1","job":"a","x":)" + open + close + "}";
  };
  CHECK(decode(nested(kMessageDepthMax - 1)));
  CHECK(decode(nested(kMessageDepthMax)).error().code == Errc::kLimit);
  CHECK(decode(nested(30'000)).error().code == Errc::kLimit);
  const std::string open_strings = R"({"schema":"livebtl.list-request/1","job":"a","x":"[[[[[[)";
  CHECK(decode(open_strings + R"([[[[[[[[[[[[[[[[[\"[["})"));
  const std::string frame = R"({"schema":"livebtl.list-request/1","job":"a","x":""})";
  std::string full = frame;
  full.insert(full.size() - 2, std::string(kMessageBytesMax - frame.size(), 'x'));
  CHECK(decode(full));
  full.insert(full.size() - 2, "x");
  CHECK(decode(full).error().code == Errc::kLimit);

  ListAnswer answer;
  answer.transports.resize(1000);
  CHECK(encode(answer).error().code == Errc::kLimit);
}

TEST_CASE("lists for people are cut, a page of peers is made to fit") {
  Standing standing = some_standing();
  standing.report.waiting.assign(500, std::string(3000, 'x'));
  CHECK(through(standing).report.waiting.size() == kNamesMax);
  StatusAnswer status{some_standing(), {}, 0, 2000};
  status.engine.peers.resize(2000);
  const StatusAnswer page = fit_page(status);
  CHECK(page.engine.peers.size() > 50);
  CHECK(encode(page));
}

TEST_CASE("text that is not UTF-8 is repaired, not passed on") {
  Standing standing = some_standing();
  standing.name = "host\xff\xfe";
  const auto text = encode(standing);
  REQUIRE(text);
  CHECK(decode(*text));
}

TEST_CASE("an outcome is a document with its exit code") {
  Outcome outcome;
  outcome.code = ExitCode::kRetracted;
  outcome.verb = "switch";
  outcome.stragglers.push_back({{ProcessId{1}, {}}, "rank 1", 1, Rung::kJoint, true, {"marker"}});
  outcome.rungs.push_back({Rung::kJoint, false, true, 0.25});
  outcome.plans.push_back({"rank 1", {}});
  const Json json = Json::parse(outcome_json(outcome));
  CHECK(json["schema"] == "livebtl.outcome/1");
  CHECK(json["exit_code"] == 5);
  CHECK(json["stragglers"][0]["rung"] == "joint");
  CHECK(json["stragglers"][0]["answered"] == true);
  CHECK(json["rungs"][0]["milliseconds"] == 0.25);
}
