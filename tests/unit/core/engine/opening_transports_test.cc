// SPDX-License-Identifier: BSD-3-Clause
// Transports that an engine refuses to open or to close; pairs that meet although their addresses
// have no room for all contacts.
#include "core/path/address.h"
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// A transport that claims other limits than its own; it is never connected.
class Limited final : public core::Transport {
 public:
  Limited(std::unique_ptr<core::Transport> beneath, std::uint32_t payload, std::uint32_t eager)
      : beneath_(std::move(beneath)), caps_(beneath_->caps()) {
    caps_.payload_bytes_max = payload;
    caps_.eager_bytes_max = eager;
  }
  std::string_view name() const noexcept override { return beneath_->name(); }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override { return beneath_->address(); }
  Blob contact() const override { return beneath_->contact(); }
  bool reaches(Bytes address) const noexcept override { return beneath_->reaches(address); }
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override {
    return beneath_->connect(address);
  }
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override {
    return beneath_->progress(accept, now, frames_max);
  }
  int wait_fd() const noexcept override { return beneath_->wait_fd(); }
  bool arm() noexcept override { return beneath_->arm(); }

 private:
  std::unique_ptr<core::Transport> beneath_;
  core::Caps caps_;
};

core::TransportKind limited(const std::string& name, std::uint32_t payload, std::uint32_t eager) {
  core::TransportKind made = kind("self", name);
  made.make = [make = made.make, payload,
               eager](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
    auto beneath = make(facts);
    if (!beneath) return beneath;
    return std::make_unique<Limited>(std::move(*beneath), payload, eager);
  };
  return made;
}

/// Opens the first at the start, then adds the second, if there is one.
std::string refusal(std::vector<core::TransportKind> kinds) {
  core::EngineConfig config;
  config.job = "test";
  config.process = ProcessId{1};
  config.kinds = std::move(kinds);
  core::EngineCore engine(config);
  core::RungOrder order;
  order.operation = 1;
  if (config.kinds.size() > 1) order.before.excluded.insert(config.kinds[1].name);
  engine.adopt(order);
  if (const Status opened = engine.open_transports(); !opened) return opened.error().text;
  order.operation = 2;
  order.rung = core::Rung::kJoint;
  engine.submit(order);
  return engine.report().refusal;
}

}  // namespace

TEST_CASE("a transport whose frames are too small is refused, and the message says for what") {
  CHECK(refusal({limited("a", 8200, 8200)}).empty());
  CHECK(refusal({limited("a", 8199, 100)}).find("'a' carries at most 8199 bytes") !=
        std::string::npos);
  CHECK(refusal({limited("a", 9000, 9001)}).find("its own eager messages") != std::string::npos);
}

TEST_CASE("a transport must carry what another one may have to send again") {
  CHECK(refusal({limited("a", 20000, 9000), limited("b", 9000, 500)}).empty());
  CHECK(
      refusal({limited("a", 20000, 9001), limited("b", 9000, 500)})
          .find("'b' carries at most 9000 bytes of payload in a frame; 9001 are needed: the eager "
                "messages of 'a'") != std::string::npos);
  CHECK(refusal({limited("b", 9000, 500), limited("a", 20000, 9001)}).find("'b' carries at most") !=
        std::string::npos);
}

TEST_CASE("the last transport by which a process reaches itself is not taken away") {
  Rig rig(1, {kind("self")});
  Watched send, receive;
  ReceiveRequest wanted{.ignore = ~Tag{0}};
  REQUIRE(rig.ports[0]->receive(wanted, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 0)}, send) == Accept::kAccepted);
  rig.until([&] { return receive.done_count != 0; });
  core::RungOrder order;
  order.operation = 1;
  order.rung = core::Rung::kJoint;
  order.after.excluded = {"self"};
  rig.engines[0]->submit(order);
  CHECK(rig.engines[0]->report().refused_last_path);
  CHECK(rig.engines[0]->report().pairs.size() == 1);
}

namespace {

/// A standing that quiesces all transports of the rig that the address of rank 1 names.
core::RungOrder quiesced_but_one(const Rig& rig, std::string& left_out) {
  const auto named = core::decode_address(rig.ports[1]->address());
  REQUIRE(named);
  core::RungOrder standing;
  standing.operation = 1;
  standing.rung = core::Rung::kNew;
  for (const char* const name : {"a", "b", "c"}) {
    if (named->contacts.contains(core::name_hash(name)))
      standing.after.quiesced.insert(name);
    else
      left_out = name;
  }
  REQUIRE(standing.after.quiesced.size() == 2);
  return standing;
}

}  // namespace

TEST_CASE(
    "a pair whose addresses name only quiesced transports meets over one of them, and moves on") {
  Rig rig(2, {kind("tcp", "a"), kind("tcp", "b"), kind("tcp", "c")});
  std::string left_out;
  const core::RungOrder standing = quiesced_but_one(rig, left_out);
  for (auto& engine : rig.engines) engine->adopt(standing);

  Watched send, receive;
  std::uint64_t word = 42, taken = 0;
  const Slice from{&word, sizeof word};
  const MutableSlice into{&taken, sizeof taken};
  ReceiveRequest wanted{.ignore = ~Tag{0}};
  wanted.slices = {&into, 1};
  REQUIRE(rig.ports[1]->receive(wanted, receive) == Accept::kAccepted);
  SendRequest request{.to = rig.to(0, 1)};
  request.slices = {&from, 1};
  REQUIRE(rig.ports[0]->send(request, send) == Accept::kAccepted);
  rig.until([&] { return receive.done_count != 0; });
  CHECK(taken == word);
  CHECK(rig.engines[0]->status().peers.front().transport == left_out);
}

TEST_CASE("a transport that was never open shows the exclusivity and weight that it will have") {
  Rig open(1, transports::builtin());
  core::Routing all_but_self;
  all_but_self.excluded = {"sm", "tcp", "verbs", "ofi"};
  all_but_self.tuning["tcp"].weight = 7;
  Rig closed(1, transports::builtin(), 1, {}, 1, all_but_self);
  for (std::size_t i = 0; i < transports::builtin().size(); ++i) {
    const auto then = open.engines[0]->status().transports.at(i);
    const auto now = closed.engines[0]->status().transports.at(i);
    CAPTURE(now.name);
    CHECK(now.open == (now.name == "self"));
    CHECK(now.exclusivity == then.exclusivity);
    CHECK(now.weight == (now.name == "tcp" ? 7 : then.weight));
  }
}

TEST_CASE("an engine that may open nothing says what to do") {
  core::EngineConfig config;
  config.job = "test";
  config.process = ProcessId{1};
  config.kinds = {kind("self"), kind("tcp")};
  config.routing.excluded = {"self", "tcp"};
  core::EngineCore engine(config);
  const Status opened = engine.open_transports();
  REQUIRE_FALSE(opened);
  CHECK(opened.error().text.find("self, tcp are excluded") != std::string::npos);
  CHECK(opened.error().text.find("LIVEBTL_EXCLUDE") != std::string::npos);
}

TEST_CASE("whatever size of rings the settings take, shared memory and the other transports fit") {
  const auto opens = [](const char* bytes, std::vector<core::TransportKind> kinds) {
    const auto settings = read_settings([bytes](std::string_view name) {
      return name == "LIVEBTL_SM_RING_BYTES" ? std::optional<std::string>(bytes) : std::nullopt;
    });
    if (!settings) return false;
    const std::size_t wanted = kinds.size();
    const Rig rig(1, std::move(kinds), 1, *settings);
    CHECK(rig.engines[0]->status().transports.size() == wanted);
    for (const auto& transport : rig.engines[0]->status().transports) CHECK(transport.open);
    return true;
  };
  for (const char* bytes : {"128K", "256K", "1M"}) {
    CHECK(opens(bytes, {kind("self"), kind("sm"), kind("tcp")}));
    CHECK(opens(bytes, {kind("sm"), kind("tcp"), kind("self")}));
  }
  CHECK_FALSE(opens("64K", {kind("self")}));
}
