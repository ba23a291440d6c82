// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/qmp/qmp_test.cc -- QEMU's monitor, played by the test: answers that are
// late and out of order, events in any order, and whatever else may listen at a socket.
#include "hypervisor/qmp/qmp.h"

#include <fcntl.h>

#include "tests/unit/hypervisor/qmp/scripted_peer.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

constexpr const char* kGreeting = R"({"QMP":{"version":{"qemu":{"major":7}},"capabilities":[]}})";

/// A monitor after the handshake; the next command's id is 2.
Qmp agreed(ScriptedPeer& peer) {
  peer.says_line(kGreeting);
  peer.says_line(R"({"return":{},"id":1})");
  auto qmp = Qmp::over(peer.socket(), long_enough());
  REQUIRE(qmp);
  return std::move(*qmp);
}

}  // namespace

TEST_CASE("greeting and capabilities come first") {
  ScriptedPeer peer;
  agreed(peer);
  const auto heard = peer.heard();
  REQUIRE(heard.size() == 1);
  CHECK(heard[0]["execute"] == "qmp_capabilities");
}

TEST_CASE("events of the time before us may come before the greeting, and are not ours") {
  ScriptedPeer peer;
  peer.says_line(R"({"event":"DEVICE_DELETED","data":{"device":"a"}})");
  auto qmp = agreed(peer);
  QmpEvent event;
  CHECK_FALSE(qmp.take_event("DEVICE_DELETED", "a", event));
}

TEST_CASE("another server's greeting is refused") {
  for (const char* greeting : {R"({"hello":1})", R"({"QMP":"yes"})", "HTTP/1.1 400", "{}"}) {
    ScriptedPeer peer;
    peer.says_line(greeting);
    const auto qmp = Qmp::over(peer.socket(), long_enough());
    CAPTURE(greeting);
    REQUIRE_FALSE(qmp);
    CHECK(qmp.error().code == Errc::kCorrupt);
  }
}

TEST_CASE("answers are told apart by their id, and events are kept until they are asked for") {
  ScriptedPeer peer;
  auto qmp = agreed(peer);
  CHECK(qmp.execute("query-status", Json::object(), none_left()).error().code == Errc::kTimeout);
  peer.says_line(
      R"({"event":"DEVICE_DELETED","data":{"device":"b","path":"/machine/peripheral/b"}})");
  peer.says_line(R"({"return":{"status":"stale"},"id":2})");
  peer.says_line(R"({"event":"STOP"})");
  peer.says_line(R"({"return":{"status":"running"},"id":3})");
  peer.says_line(R"({"event":"DEVICE_DELETED","data":{"device":"a"}})");
  const auto status = qmp.execute("query-status", Json::object(), long_enough());
  REQUIRE(status);
  CHECK((*status)["status"] == "running");
  CHECK(qmp.wait_event("DEVICE_DELETED", "a", long_enough()));
  CHECK(qmp.wait_event("DEVICE_DELETED", "b", long_enough()));
  CHECK(qmp.wait_event("STOP", "", long_enough()));
  CHECK(qmp.wait_event("STOP", "", none_left()).error().code == Errc::kTimeout);
}

TEST_CASE("errors are QEMU's words") {
  ScriptedPeer peer;
  auto qmp = agreed(peer);
  peer.says_line(R"({"id":2,"error":{"class":"DeviceNotFound","desc":"Device 'x' not found"}})");
  peer.says_line(R"({"id":3,"error":{"class":"GenericError","desc":"busy\nbus"}})");
  peer.says_line(R"({"error":{"class":"GenericError","desc":"Invalid JSON syntax"}})");
  peer.says_line(R"({"id":5})");
  const auto gone = qmp.execute("device_del", {{"id", "x"}}, long_enough());
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == Errc::kNotFound);
  CHECK(gone.error().text == "QEMU refuses device_del: Device 'x' not found");
  const auto busy = qmp.execute("device_add", Json::object(), long_enough());
  CHECK(busy.error().code == Errc::kRefused);
  CHECK(busy.error().text.find("busy bus") != std::string::npos);
  CHECK(qmp.execute("stop", Json::object(), long_enough()).error().code == Errc::kRefused);
  CHECK(qmp.execute("stop", Json::object(), long_enough()).error().code == Errc::kCorrupt);
}

TEST_CASE("events that are never asked for do not pile up") {
  ScriptedPeer peer;
  auto qmp = agreed(peer);
  peer.says_line(R"({"event":"FIRST"})");
  REQUIRE(qmp.listen(long_enough()));
  for (std::size_t i = 0; i < kEventsMax; ++i) {
    peer.says_line(R"({"event":"MANY"})");
    REQUIRE(qmp.listen(long_enough()));
  }
  QmpEvent event;
  CHECK_FALSE(qmp.take_event("FIRST", "", event));
  CHECK(qmp.take_event("MANY", "", event));
}

TEST_CASE("a descriptor is given with the command that names it") {
  ScriptedPeer peer;
  peer.says_line(R"({"QMP":{}})");
  peer.says_line(R"({"return":{},"id":1})");
  auto qmp = Qmp::over(peer.socket(), long_enough());
  REQUIRE(qmp);
  CHECK_FALSE(peer.heard_descriptor());  // none with qmp_capabilities
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  peer.says_line(R"({"return":{},"id":2})");
  CHECK(qmp->give_descriptor("livebtl", writer, long_enough()));
  writer.reset();
  const Fd theirs = peer.heard_descriptor();
  REQUIRE(theirs);
  REQUIRE(::write(theirs.number(), "x", 1) == 1);
  char byte = 0;
  CHECK(::read(reader.number(), &byte, 1) == 1);
  CHECK(byte == 'x');
  peer.says_line(R"({"error":{"class":"GenericError","desc":"no"},"id":3})");
  CHECK(qmp->give_descriptor("livebtl", reader, long_enough()).error().code == Errc::kRefused);
}
