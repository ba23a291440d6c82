// SPDX-License-Identifier: BSD-3-Clause
// Pairs that no transport connects, or that know each other by stale addresses: what the engine
// reports, which answers to a search it accepts, and what happens when the transport that was found
// is taken back.
#include "core/path/address.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;

namespace {

Routing without(const std::string& name) {
  Routing routing;
  routing.excluded.insert(name);
  return routing;
}

/// Numbered messages from rank 0 to rank 1, checked in order.
class Stream {
 public:
  explicit Stream(Rig& rig) : rig_(rig) {}
  ~Stream() { rig_.ports.clear(); }  // ends what is open before its memory goes

  void send(std::size_t count) { send(count, rig_.to(0, 1)); }
  void send(std::size_t count, const Destination& to) {
    for (std::size_t i = 0; i < count; ++i) {
      messages_.push_back(std::make_unique<Message>());
      Message& message = *messages_.back();
      message.out = pattern(kBytes, messages_.size());
      message.in.resize(kBytes);
      const MutableSlice into{message.in.data(), kBytes};
      ReceiveRequest wanted{.tag = messages_.size()};
      wanted.slices = {&into, 1};
      REQUIRE(rig_.ports[1]->receive(wanted, message.receive) == Accept::kAccepted);
      const Slice from{message.out.data(), kBytes};
      SendRequest request{.to = to, .tag = messages_.size()};
      request.slices = {&from, 1};
      REQUIRE(rig_.ports[0]->send(request, message.send) == Accept::kAccepted);
    }
  }
  std::size_t received() const {
    std::size_t count = 0;
    for (const auto& message : messages_) {
      if (message->receive.done_count == 0) continue;
      ++count;
      REQUIRE(message->in == message->out);
    }
    return count;
  }
  bool all_received() const { return received() == messages_.size(); }

 private:
  static constexpr std::size_t kBytes = 500;
  struct Message {
    Watched send, receive;
    std::vector<std::byte> out, in;
  };
  Rig& rig_;
  std::vector<std::unique_ptr<Message>> messages_;
};

void order(Rig& rig, std::uint64_t operation, Rung rung, const Routing& before,
           const Routing& after) {
  for (auto& engine : rig.engines)
    engine->submit({operation, static_cast<std::uint32_t>(operation), rung, before, after});
  rig.until([&] {
    return std::all_of(rig.engines.begin(), rig.engines.end(), [](auto& engine) {
      REQUIRE(engine->report().refusal == "");
      return engine->report().reached;
    });
  });
}

void add(Rig& rig, std::uint64_t operation, const std::string& name) {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew})
    order(rig, operation, rung, without(name), {});
}

/// Does what the agents would.
void ask_where_they_listen(Rig& rig) {
  for (auto& engine : rig.engines) {
    for (const ProcessId wanted : engine->unreached()) {
      for (auto& other : rig.engines) {
        if (other->process_id() == wanted) engine->introduce(wanted, other->contacts());
      }
    }
  }
}

const std::vector<ProcessId> kRankOne = {ProcessId{101}};

}  // namespace

TEST_CASE(
    "a pair that nothing reached meets once a transport is added and its addresses are told") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, {}, 1, without("tcp"));
  int signals = 0;
  rig.engines[0]->on_report([&] { ++signals; });
  Stream stream(rig);
  CHECK_FALSE(rig.engines[0]->seeks());
  stream.send(10);
  rig.until([&] { return rig.engines[0]->unreached() == kRankOne; });
  CHECK(rig.engines[0]->seeks());
  CHECK(signals == 1);
  add(rig, 1, "tcp");
  CHECK(rig.engines[0]->unreached() == kRankOne);
  ask_where_they_listen(rig);
  rig.until([&] { return stream.all_received(); });
  CHECK(rig.engines[0]->unreached().empty());
  CHECK_FALSE(rig.engines[0]->seeks());
}

TEST_CASE("nothing is taken from an answer but addresses of a peer that is sought") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, {}, 1, without("tcp"));
  Stream stream(rig);
  stream.send(10);
  add(rig, 1, "tcp");
  rig.until([&] { return rig.engines[0]->unreached() == kRankOne; });
  auto& engine = *rig.engines[0];
  const core::Contacts good = rig.engines[1]->contacts();
  engine.introduce(ProcessId{555}, good);
  engine.introduce(ProcessId{100}, good);
  engine.introduce(ProcessId{101}, {});
  engine.introduce(ProcessId{101}, {{"tcp", Blob(513)}, {"relay", Blob(9)}, {"", Blob(1)}});
  for (const std::size_t bytes : {0U, 1U, 20U, 512U})
    engine.introduce(ProcessId{101}, {{"tcp", Blob(bytes, std::byte{0xff})}});
  CHECK(engine.status().peers.size() == 1);
  for (int i = 0; i < 100; ++i) engine.progress();
  CHECK(engine.unreached() == kRankOne);
  engine.introduce(ProcessId{101}, good);
  rig.until([&] { return stream.all_received(); });

  const Destination to = rig.to(0, 1);
  const Address before = engine.address_of(to);
  engine.introduce(ProcessId{101}, {{"tcp", Blob(20, std::byte{0xff})}});
  CHECK(engine.address_of(to) == before);
}

TEST_CASE("a peer that listens elsewhere than its address says is sought, and found") {
  Rig rig(3, {kind("self"), kind("tcp")});
  const auto right = core::decode_address(rig.ports[1]->address());
  const auto gone = core::decode_address(rig.ports[2]->address());
  REQUIRE(right);
  REQUIRE(gone);
  rig.ports.pop_back();
  rig.engines.pop_back();  // nobody listens there now
  const auto stale = gone->contacts.at(core::name_hash("tcp"));
  const Address address = core::encode_address(right->process, right->port, {{"tcp", stale}});
  Stream stream(rig);
  const auto to = rig.engines[0]->peer(address);
  REQUIRE(to);
  stream.send(10, *to);
  rig.until([&] { return rig.engines[0]->unreached() == kRankOne; });
  CHECK(stream.received() == 0);
  ask_where_they_listen(rig);
  rig.until([&] { return stream.all_received(); });
}

TEST_CASE("what met over a transport that is taken back waits for the next, and nothing is lost") {
  for (const char* const name : {"sm", "tcp"}) {
    CAPTURE(std::string(name));
    Rig rig(2, {kind("self"), kind(name)}, 1, {}, 1, without(name));
    Stream stream(rig);
    stream.send(1);
    order(rig, 1, Rung::kJoint, without(name), {});
    order(rig, 1, Rung::kNewTx, without(name), {});
    rig.until([&] {
      ask_where_they_listen(rig);
      return stream.all_received();
    });
    stream.send(300);  // more than rank 1 accepts at once
    for (int i = 0; i < 20; ++i) rig.engines[0]->progress();
    order(rig, 1, Rung::kJoint, without(name), {});
    order(rig, 1, Rung::kOld, without(name), {});
    stream.send(10);
    const std::size_t before = stream.received();
    for (int i = 0; i < 20; ++i) rig.engines[1]->progress();
    CHECK(stream.received() == before);
    add(rig, 2, name);
    rig.until([&] {
      ask_where_they_listen(rig);
      return stream.all_received();
    });
  }
}

TEST_CASE("a pair that has only said hello over what is quiesced holds up no ladder") {
  Routing quiet, open;
  quiet.quiesced = {"a", "b"};
  Rig rig(2, {kind("tcp", "a"), kind("tcp", "b")}, 1, {}, 1, quiet);
  Stream stream(rig);
  stream.send(1);
  rig.engines[0]->progress();  // dials: its hello precedes the announcement that follows
  order(rig, 1, Rung::kJoint, quiet, open);
  rig.until([&] { return rig.engines[0]->status().peers.front().generation > 0; });
  order(rig, 1, Rung::kOld, quiet, open);
  CHECK(stream.received() == 0);
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) order(rig, 2, rung, quiet, open);
  rig.until([&] { return stream.all_received(); });
}

TEST_CASE("a process that joins in mid-ladder opens what the routings before and after it need") {
  for (const Rung rung : {Rung::kOld, Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    for (const bool added : {true, false}) {
      core::EngineConfig config;
      config.job = "test";
      config.process = ProcessId{1};
      config.kinds = {kind("self"), kind("self", "other")};
      core::EngineCore engine(config);
      core::RungOrder standing;
      standing.operation = 1;
      standing.rung = rung;
      (added ? standing.before : standing.after).excluded.insert("other");
      engine.adopt(standing);
      REQUIRE(engine.open_transports());
      CHECK(engine.contacts().contains("other") == (rung != (added ? Rung::kOld : Rung::kNew)));
    }
  }
}

TEST_CASE("an announcement that is sent again does not undo what a newer hello has told") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  Stream stream(rig);
  stream.send(1);
  rig.until([&] { return stream.all_received(); });
  taps[1].mute = true;
  rig.engines[1]->publish_relay("the first");  // announced to the peer as addresses are
  rig.until([&] { return taps[1].posted[core::FrameKind::kAddresses] == 1; });
  const auto sinks = taps[1].sinks;
  for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
  rig.engines[1]->progress();
  taps[1].mute = false;
  rig.engines[1]->publish_relay("the second");  // no path to announce it on
  stream.send(1);
  rig.until([&] {
    return stream.all_received() && rig.engines[1]->status().peers.front().kept_bytes == 0;
  });
  CHECK(rig.engines[0]->relays() == std::vector<std::string>{"the second"});
}
