// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/qmp/card_test.cc -- how a card was plugged in, according to QEMU; and how
// it is unplugged.
#include "hypervisor/qmp/card.h"

#include "tests/unit/hypervisor/qmp/scripted_peer.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// A monitor that will give these answers to the next commands, in order.
Qmp answering(ScriptedPeer& peer, const std::vector<Json>& answers) {
  peer.says_line(R"({"QMP":{}})");
  peer.says_line(R"({"return":{},"id":1})");
  auto qmp = Qmp::over(peer.socket(), long_enough());
  REQUIRE(qmp);
  peer.heard();
  std::uint64_t id = 2;
  for (Json answer : answers) {
    if (!answer.contains("event")) answer["id"] = id++;
    peer.says_line(answer.dump());
  }
  return std::move(*qmp);
}

Json returns(Json value) { return {{"return", std::move(value)}}; }
Json refuses(const char* why, const char* kind = "GenericError") {
  return {{"error", {{"class", kind}, {"desc", why}}}};
}
Json property(const char* name, const char* type) { return {{"name", name}, {"type", type}}; }

const Json kPlugged = returns(Json::array({property("hca", "child<virtio-net-pci>")}));

Card card_of(const char* id) {
  return {id, true, {{"driver", "virtio-net-pci"}, {"id", id}, {"bus", "port1"}}};
}

}  // namespace

TEST_CASE("a card's arguments are what differs from the driver's usual values") {
  Json usual = property("csum", "bool");
  usual["default-value"] = true;
  ScriptedPeer peer;
  auto qmp = answering(
      peer, {kPlugged, returns("virtio-net-pci"),
             returns(Json::array(
                 {usual, property("mac", "str"), property("addr", "int32"),
                  property("x-secret", "bool"), property("busnr", "busnr"),
                  property("romfile", "str"), property("memdev", "link<memory-backend>"),
                  property("host", "str"), property("sysfsdev", "str"),
                  property("inner", "child<virtio-net-device>"), property("write-only", "str")})),
             returns("/machine/peripheral/port1/port1"), returns(true),
             returns("52:54:00:00:00:01"), returns(10), returns(""), returns("/objects/memory0"),
             returns("ffff:ff:ff.f"), returns(""), refuses("no")});
  const auto card = find_card(qmp, "hca", {}, long_enough());
  REQUIRE(card);
  CHECK(card->present);
  CHECK(card->arguments == Json{{"driver", "virtio-net-pci"},
                                {"id", "hca"},
                                {"bus", "port1"},
                                {"mac", "52:54:00:00:00:01"},
                                {"addr", "01.2"},
                                {"romfile", ""},
                                {"memdev", "memory0"}});
}

TEST_CASE("a card that an earlier call has pulled is found where that left it") {
  const Json kept = returns(R"({"driver":"vfio-pci","id":"hca","bus":"port1"})");
  ScriptedPeer peer;
  auto qmp = answering(peer, {returns(Json::array()), kept});
  const auto card = find_card(qmp, "hca", {}, long_enough());
  REQUIRE(card);
  CHECK_FALSE(card->present);
  CHECK(card->arguments["driver"] == "vfio-pci");
  for (const Json& other : {refuses("not found", "DeviceNotFound"), returns("no JSON"), returns(7),
                            returns(R"({"driver":"vfio-pci","id":"other"})")}) {
    ScriptedPeer again;
    auto monitor = answering(again, {returns(Json::array()), other});
    CHECK(find_card(monitor, "hca", {}, long_enough())->arguments.is_null());
  }
}

TEST_CASE("what QEMU garbles about a card is an error") {
  for (const std::vector<Json>& answers :
       {std::vector<Json>{returns(7)},
        {kPlugged, returns(7), returns(Json::array()), returns("/b")},
        {kPlugged, returns("d"), returns(7), returns("/b")},
        {kPlugged, returns("d"), returns(Json::array()), returns(7)}}) {
    ScriptedPeer peer;
    auto qmp = answering(peer, answers);
    const auto card = find_card(qmp, "hca", {}, long_enough());
    REQUIRE_FALSE(card);
    CHECK(card.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("a card is gone when QEMU says so of it, and not of another") {
  ScriptedPeer peer;
  auto qmp =
      answering(peer, {returns(Json::object()),
                       {{"event", "DEVICE_DELETED"}, {"data", {{"device", "other"}}}},
                       {{"event", "DEVICE_UNPLUG_GUEST_ERROR"}, {"data", {{"device", "other"}}}}});
  const auto waiting = unplug_card(qmp, card_of("hca"), {monotonic_now() + kMillisecond, nullptr});
  REQUIRE_FALSE(waiting);
  CHECK(waiting.error().code == Errc::kTimeout);
  peer.says_line(
      refuses("Device hca is already in the process of unplug").dump().insert(1, "\"id\":3,"));
  peer.says_line(R"({"event":"DEVICE_DELETED","data":{"device":"hca"}})");
  CHECK(unplug_card(qmp, card_of("hca"), long_enough()));
}

TEST_CASE("device_del: gone already, refused by QEMU, refused by the guest") {
  ScriptedPeer peer;
  auto qmp = answering(peer, {refuses("no such device", "DeviceNotFound"),
                              refuses("not hotpluggable"), returns(Json::object())});
  CHECK(unplug_card(qmp, card_of("hca"), long_enough()));
  CHECK(unplug_card(qmp, card_of("hca"), long_enough()).error().code == Errc::kRefused);
  peer.says_line(R"({"event":"DEVICE_UNPLUG_GUEST_ERROR","data":{"device":"hca"}})");
  CHECK(unplug_card(qmp, card_of("hca"), long_enough()).error().code == Errc::kRefused);
}

TEST_CASE("a card with shared memory that has stayed is not to be plugged in by hand") {
  Card card = card_of("hca");
  card.arguments["driver"] = "ivshmem-plain";
  card.arguments["memdev"] = "memory0";
  ScriptedPeer peer;
  auto qmp = answering(peer, {kPlugged, returns(Json::array())});
  CHECK(plug_card_again(qmp, card, long_enough()));
  const auto gone = plug_card_again(qmp, card, long_enough());
  REQUIRE_FALSE(gone);
  CHECK(gone.error().text.find("object-add") != std::string::npos);
}

TEST_CASE("a card is plugged in once") {
  ScriptedPeer peer;
  auto qmp = answering(peer, {kPlugged, returns(Json::array()), returns(Json::object())});
  CHECK(plug_card(qmp, card_of("hca"), long_enough()));
  CHECK(peer.heard().size() == 1);
  CHECK(plug_card(qmp, card_of("hca"), long_enough()));
  CHECK(peer.heard()[1]["arguments"] == card_of("hca").arguments);
}
