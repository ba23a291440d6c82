// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/texts_test.cc -- each source's answers: as documented, and garbled.
#include <doctest/doctest.h>

#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

const std::string kAzureAnswer =
    R"({"DocumentIncarnation":3,"Events":[
      {"EventId":"602d9444-d2cd-49c7-8624-8643e7171297","EventType":"Freeze","ResourceType":"VirtualMachine",
       "Resources":["vm_0"],"EventStatus":"Scheduled","NotBefore":"Mon, 19 Sep 2016 18:29:47 GMT",
       "Description":"Host server is undergoing maintenance.","EventSource":"Platform","DurationInSeconds":5},
      {"EventId":"2","EventType":"Reboot","Resources":["vm_1"],"EventStatus":"Scheduled","NotBefore":"x"},
      {"EventId":"3","EventType":"Redeploy","Resources":["vm_0","vm_1"],"EventStatus":"Started","NotBefore":""}]})";

/// Each shorter text, and each with one byte changed, is read or refused without a crash.
template <class Reader>
void garble(const std::string& good, const Reader& reader) {
  REQUIRE(reader(good));
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    CAPTURE(length);
    CHECK(!reader(good.substr(0, length)));
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'\0', '"', '}', '\x80', '9'}) {
      std::string changed = good;
      changed[at] = c;
      (void)reader(changed);
    }
  }
}

}  // namespace

TEST_CASE("times as the sources write them") {
  const auto at = [](const char* text) { return read_moment(text).value_or(-1) / kSecond; };
  CHECK(at("Mon, 19 Sep 2016 18:29:47 GMT") == 1474309787);
  CHECK(at("19 Sep 2016 18:29:47 GMT") == 1474309787);
  CHECK(at("2016-09-19T18:29:47Z") == 1474309787);
  CHECK(at("2016-09-19T18:29:47.123Z") == 1474309787);
  CHECK(at("2016-09-19T20:29:47+02:00") == 1474309787);
  CHECK(moment_text(1474309787 * kSecond) == "2016-09-19T18:29:47Z");
  for (const char* text :
       {"", "now", "2016-09-19", "2016-09-19T18:29:47", "2016-09-19T18:29:47.Z",
        "2016-09-19T18:29:47+2", "2016-09-19T18:29:47+24:00", "1816-09-19T18:29:47Z",
        "9016-09-19T18:29:47Z", "Mon, 19 Sep 2016 18:29:47 GMT+1", "Mon, 39 Sep 2016 18:29:47 GMT"})
    CHECK_MESSAGE(!read_moment(text), text);
}

TEST_CASE("azure: of its own events alone, and what may be acknowledged") {
  const auto notices = read_azure(kAzureAnswer, "vm_0", true);
  REQUIRE(notices);
  REQUIRE(notices->size() == 2);
  const Notice& freeze = notices->front();
  CHECK(freeze.id == "602d9444-d2cd-49c7-8624-8643e7171297");
  CHECK(freeze.kind == Kind::kFreeze);
  CHECK(freeze.start == 1474309787 * kSecond);
  CHECK(freeze.acknowledgeable);
  CHECK(!freeze.begun);
  const Notice& redeploy = notices->back();
  CHECK(redeploy.begun);
  CHECK(!redeploy.start);
  CHECK(!redeploy.acknowledgeable);  // the event concerns others as well
  CHECK(read_azure(kAzureAnswer, "vm_0", false)->back().acknowledgeable);
  CHECK(azure_start_request("a") == R"({"StartRequests":[{"EventId":"a"}]})");
  garble(kAzureAnswer,
         [](const std::string& text) { return read_azure(text, "vm_0", true).has_value(); });
}

TEST_CASE("azure: an answer that is not understood is no empty list") {
  CHECK(read_azure(R"({"DocumentIncarnation":1,"Events":[]})", "vm_0", true)->empty());
  for (
      const char* text :
      {"", "{}", "[]", R"({"Events":{}})", R"({"Events":[{}]})", R"({"Events":[7]})",
       R"({"Events":[{"EventId":"a","Resources":["vm_0"],"EventStatus":"Scheduled","NotBefore":"soon"}]})",
       R"({"Events":[{"EventId":"a b","Resources":["vm_0"],"EventStatus":"Started"}]})",
       R"({"Events":[{"EventId":"a","Resources":["vm_0"],"EventStatus":"Done"}]})"})
    CHECK_MESSAGE(!read_azure(text, "vm_0", true), text);
}

TEST_CASE("gce: the word of now and the plan for later") {
  CHECK(read_gce_event("NONE\n")->empty());
  const auto migrate = read_gce_event("MIGRATE_ON_HOST_MAINTENANCE");
  REQUIRE(migrate);
  CHECK(migrate->front().kind == Kind::kMigrate);
  CHECK(migrate->front().usual_lead == 60 * kSecond);
  CHECK(read_gce_event("TERMINATE_ON_HOST_MAINTENANCE")->front().kind == Kind::kTerminate);
  CHECK(!read_gce_event(""));
  CHECK(!read_gce_event("<html>"));

  const auto upcoming = read_gce_upcoming(
      R"({"can_reschedule":"false","maintenance_status":"ONGOING","type":"SCHEDULED","window_start_time":"2026-09-19T18:29:47Z"})");
  REQUIRE(upcoming);
  CHECK(upcoming->front().begun);
  CHECK(upcoming->front().id == "upcoming-maintenance-2026-09-19T18:29:47Z");
  CHECK(read_gce_upcoming(R"({"windowStartTime":"2026-09-19T18:29:47Z"})"));
  CHECK(read_gce_upcoming("{}")->empty());
  CHECK(!read_gce_upcoming(R"({"window_start_time":"later"})"));
  CHECK(!read_gce_upcoming("[]"));
}

TEST_CASE("ec2: scheduled events and spot notices") {
  const std::string list =
      R"([{"NotBefore":"21 Jan 2019 09:00:43 GMT","Code":"system-reboot","Description":"scheduled reboot",
           "EventId":"instance-event-0d59937288b749b32","NotAfter":"21 Jan 2019 09:17:23 GMT","State":"active"},
          {"NotBefore":"29 Jan 2019 09:00:43 GMT","Code":"instance-stop","EventId":"b","State":"canceled"}])";
  const auto notices = read_ec2_events(list);
  REQUIRE(notices);
  REQUIRE(notices->size() == 1);
  CHECK(notices->front().kind == Kind::kReboot);
  CHECK(notices->front().start == 1548061243 * kSecond);
  garble(list, [](const std::string& text) { return read_ec2_events(text).has_value(); });
  CHECK(read_ec2_events("[]")->empty());
  CHECK(!read_ec2_events("{}"));
  CHECK(!read_ec2_events(R"([{"State":"unheard"}])"));

  const std::string spot = R"({"action":"stop","time":"2017-09-18T08:22:00Z"})";
  CHECK(read_ec2_spot(spot)->front().kind == Kind::kPreempt);
  CHECK(read_ec2_spot(R"({"action":"hibernate","time":"2017-09-18T08:22:00Z"})")->front().kind ==
        Kind::kFreeze);
  garble(spot, [](const std::string& text) { return read_ec2_spot(text).has_value(); });
}

TEST_CASE("slurm: a drain in all the ways in which it is written") {
  const auto drains = [](const char* text) {
    const auto notices = read_slurm(text, "n1");
    REQUIRE_MESSAGE(notices, text);
    return !notices->empty();
  };
  CHECK(drains(
      "NodeName=n1 Arch=x86_64 State=IDLE+DRAIN ThreadsPerCore=1 Reason=fan [root@2026-01-01]"));
  CHECK(drains("NodeName=n1 Arch=x86_64\n   State=MIXED+DRAIN*  Owner=N/A\n"));
  CHECK(drains(
      R"({"nodes":[{"name":"n0","state":["IDLE"]},{"name":"n1","state":["ALLOCATED","DRAIN"],"reason":"fan"}]})"));
  CHECK(drains(R"({"nodes":[{"name":"n1","state":"drained"}]})"));
  CHECK(!drains("NodeName=n1 State=ALLOCATED Reason=DRAIN"));
  CHECK(!drains("NodeName=n1 NextState=DRAIN State=IDLE"));
  CHECK(!drains(R"({"nodes":[{"name":"n1","state":["IDLE"]}]})"));
  for (const char* text : {"", "Node n1 not found", "NodeName=n2 State=DRAIN", "{",
                           R"({"nodes":[]})", R"({"nodes":[{"name":"n1"}]})"})
    CHECK_MESSAGE(!read_slurm(text, "n1"), text);
  CHECK(read_slurm("NodeName=n1 State=DRAIN", "n1")->front().id == "drain-n1");
}

TEST_CASE("the site's own notices") {
  const std::string file =
      R"({"events":[{"event":"power","kind":"reboot","start":"2026-01-01T00:00:00Z","text":"the UPS"},{"event":"b"}]})";
  const auto notices = read_notice_file(file);
  REQUIRE(notices);
  CHECK(notices->size() == 2);
  CHECK(notices->front().kind == Kind::kReboot);
  CHECK(!notices->back().start);
  garble(file, [](const std::string& text) { return read_notice_file(text).has_value(); });
  for (const char* text :
       {"", "{}", R"({"events":[{"event":"a b"}]})", R"({"events":[{"event":"a","kind":"x"}]})",
        R"({"events":[{"event":"a","start":"x"}]})", R"({"events":[{"event":"a","start":7}]})"})
    CHECK_MESSAGE(!read_notice_file(text), text);

  const auto line = read_socket_line(R"({"event":"a","kind":"migrate","in_s":10})", 5 * kSecond);
  REQUIRE(line);
  CHECK(line->notice.start == 15 * kSecond);
  CHECK(!line->over);
  CHECK(read_socket_line(R"({"event":"a","over":true})", 0)->over);
  CHECK(!read_socket_line(R"({"event":"a","in_s":-1})", 0));
  CHECK(!read_socket_line(R"({"event":"a","in_s":1e300})", 0));
  CHECK(!read_socket_line("hello", 0));
}
