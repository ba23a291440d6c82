// SPDX-License-Identifier: BSD-3-Clause
// Well-formed HELLOs from processes that prove nothing, and addresses that now belong to another
// process: nothing is kept of the former, and the latter are not dialled forever.
#include <deque>

#include "core/path/address.h"
#include "core/path/handshake.h"
#include "tests/unit/core/engine/hostile_member.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::uint64_t kCallers = 500;
constexpr std::size_t kAtOnce = 50;

/// One connection: sends a HELLO, and nothing more.
class Call final : core::EndpointSink {
 public:
  Call(std::unique_ptr<core::Endpoint> endpoint, Blob hello)
      : endpoint_(std::move(endpoint)), hello_(std::move(hello)) {
    endpoint_->attach(*this);
  }
  void post() noexcept {
    if (posted_ || over_) return;
    const core::FrameHead head{core::FrameKind::kHello, 0, 0, 0, 0, 0, 0};
    posted_ = endpoint_->post({bytes_of(head), hello_, 0, false}) != core::Post::kRetry;
  }
  bool over() const noexcept { return over_; }  // it was answered, or ended

 private:
  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes, Bytes) noexcept override { over_ = true; }
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error&) noexcept override { over_ = true; }

  std::unique_ptr<core::Endpoint> endpoint_;
  Blob hello_;
  bool posted_ = false, over_ = false;
};

/// Any number of processes that know where an engine listens.
class Callers final : core::TransportSink {
 public:
  Callers() {
    facts_.process = ProcessId{7};
    facts_.settings = &settings_;
    auto made = kind("tcp").make(facts_);
    REQUIRE(made);
    transport_ = std::move(*made);
  }

  void call(Rig& rig, const Blob& address, const Blob& hello) {
    auto endpoint = transport_->connect(address);
    REQUIRE(endpoint);
    calls_.emplace_back(std::move(*endpoint), hello);
    await(rig, kAtOnce - 1);
  }
  /// Waits until all but `open_max` calls have been answered or ended.
  void await(Rig& rig, std::size_t open_max) {
    rig.until([&] {
      transport_->progress(*this, monotonic_now(), 64);
      for (Call& each : calls_) each.post();
      while (!calls_.empty() && calls_.front().over()) calls_.pop_front();
      return calls_.size() <= open_max;
    });
  }

 private:
  void on_accept(std::unique_ptr<core::Endpoint>) noexcept override {}

  Settings settings_ = [] {
    Settings settings;
    settings.tcp_if = {"lo"};
    return settings;
  }();
  core::NodeFacts facts_;
  std::unique_ptr<core::Transport> transport_;
  std::deque<Call> calls_;
};

core::HelloFacts stated(std::uint64_t process) {
  core::HelloFacts facts;
  facts.job = "test";
  facts.process = ProcessId{process};
  facts.path = process;
  facts.label = "rank 1";
  return facts;
}

Blob hello_of(std::uint64_t process, const Secret& secret) {
  return *core::Handshake::dial(secret, stated(process), ProcessId{Rig::kFirstProcess})
              .start()
              .send;
}

Blob contact_of(const Rig& rig, std::size_t i) {
  const auto parts = core::decode_address(rig.ports[i]->address());
  REQUIRE(parts);
  return parts->contacts.at(core::name_hash("tcp"));
}

class HostileByte {
 public:
  HostileByte(Rig& rig, std::size_t from, std::size_t to, const Destination& destination) {
    const MutableSlice into{&in_, 1};
    ReceiveRequest wanted{.tag = 1};
    wanted.slices = {&into, 1};
    REQUIRE(rig.ports[to]->receive(wanted, receive_) == Accept::kAccepted);
    const Slice out{&out_, 1};
    SendRequest request{.to = destination, .tag = 1};
    request.slices = {&out, 1};
    REQUIRE(rig.ports[from]->send(request, send_) == Accept::kAccepted);
  }
  bool received() const { return receive_.done_count == 1 && in_ == out_; }

 private:
  Watched send_, receive_;
  std::byte in_{}, out_{3};
};

}  // namespace

TEST_CASE("of a process that proves nothing no record is made, whatever its HELLO says") {
  const Secret of_the_job(std::array<std::byte, 32>{std::byte{7}});
  const Secret guessed(std::array<std::byte, 32>{std::byte{8}});
  // The second stands for a replayed HELLO: nobody answers the challenge.
  for (const Secret& secret : {guessed, of_the_job}) {
    Rig rig(1, {kind("self"), kind("tcp")});
    const Blob address = contact_of(rig, 0);
    Callers callers;
    for (std::uint64_t i = 0; i < kCallers; ++i)
      callers.call(rig, address, hello_of(1000 + i, secret));
    callers.await(rig, 0);
    CHECK(rig.engines[0]->status().peers.empty());
  }
}

TEST_CASE("a peer whose address is now that of a connected process is sought, and found") {
  Rig rig(3, {kind("self"), kind("tcp")});
  const HostileByte connects(rig, 2, 0, rig.to(2, 0));
  rig.until([&] { return connects.received(); });
  const auto right = core::decode_address(rig.ports[1]->address());
  REQUIRE(right);
  const Address stale =
      core::encode_address(right->process, right->port, {{"tcp", contact_of(rig, 2)}});
  const auto to = rig.engines[0]->peer(stale);
  REQUIRE(to);
  const HostileByte byte(rig, 0, 1, *to);
  const std::vector<ProcessId> sought = {ProcessId{Rig::kFirstProcess + 1}};
  rig.until([&] { return rig.engines[0]->unreached() == sought; });
  CHECK_FALSE(byte.received());
  rig.engines[0]->introduce(sought.front(), rig.engines[1]->contacts());
  rig.until([&] { return byte.received(); });
  rig.ports.clear();  // ends what is open before its memory goes
}

TEST_CASE("a peer whose death is proved while its proof is on the way is not connected by it") {
  Rig rig(1, {kind("self"), kind("tcp")});
  HostileMember member(rig, {.keeps_proof = true});
  const ProcessId process{HostileMember::kProcess};
  const auto to = rig.engines[0]->peer(core::encode_address(process, 1, {}));
  REQUIRE(to);
  const std::byte byte{};
  const Slice out{&byte, 1};
  SendRequest request{.to = *to, .tag = 1};
  request.slices = {&out, 1};
  Watched sent;
  REQUIRE(rig.ports[0]->send(request, sent) == Accept::kAccepted);
  rig.until([&] { return rig.engines[0]->unreached() == std::vector<ProcessId>{process}; });
  rig.engines[0]->proved_dead(process);
  rig.until([&] { return sent.done_count == 1; });
  CHECK(sent.completion.code == Errc::kPeerLost);
  member.prove();
  member.until([&] { return member.down(); });
  CHECK(member.seen().lost);
}
