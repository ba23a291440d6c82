// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/hostile_member.h -- a member that knows the job's secret, proves who it
// is, then sends what a test wants: frames of its own making, over a real tcp connection to an
// engine of a rig.
#pragma once

#include <functional>

#include "core/path/address.h"
#include "core/path/handshake.h"
#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

class HostileMember final : core::TransportSink, core::EndpointSink {
 public:
  static constexpr std::uint64_t kProcess = 7;

  /// What it claims to be, and with which secret.
  struct Claim {
    Secret secret = Secret(std::array<std::byte, 32>{std::byte{7}});
    std::string job = "test";
    Incarnation incarnation{};
    bool keeps_proof = false;  // until prove()
  };

  explicit HostileMember(Rig& rig) : HostileMember(rig, {}) {}
  /// Connects to rank 0 of the rig. On return it is proved, challenged or refused.
  HostileMember(Rig& rig, const Claim& claim)
      : rig_(rig), transport_(make()), handshake_(dial(claim)), keeps_proof_(claim.keeps_proof) {
    const auto parts = core::decode_address(rig.ports[0]->address());
    REQUIRE(parts);
    port_ = parts->port;
    auto endpoint = transport_->connect(parts->contacts.at(core::name_hash("tcp")));
    REQUIRE(endpoint);
    endpoint_ = std::move(*endpoint);
    endpoint_->attach(*this);
    hello_out_ = handshake_.start().send;
    if (claim.keeps_proof)
      until([&] { return challenged_ || down_; });
    else
      prove();
  }
  /// Answers the challenge. On return it is admitted or refused.
  void prove() {
    keeps_proof_ = false;
    until([&] { return handshake_.open() || down_; });
    if (!down_) endpoint_->trust();
  }

  /// Sends the next numbered frame, with any header and payload, unless the connection has ended.
  template <class Body>
  void send(core::FrameKind kind, const Body& body, Bytes payload = {}, std::uint8_t flags = 0) {
    const core::Header<Body> header{{kind, flags, 0, port_, 1, next_seq_++, 1}, body};
    until([&] {
      return down_ || endpoint_->post({bytes_of(header), payload, 0, false}) != core::Post::kRetry;
    });
  }
  /// A frame of the placed lane, without a number.
  void send_data(const core::DataBody& data, Bytes payload) {
    const core::Header<core::DataBody> header{{core::FrameKind::kData, 0, 0, 0, 0, 0, 1}, data};
    until([&] {
      return down_ || endpoint_->post({bytes_of(header), payload, 0, false}) != core::Post::kRetry;
    });
  }
  /// Acknowledges, and gives back credit, whether it was used or not.
  void acknowledge(std::uint64_t ack, const core::CreditBody& credit = {}) {
    const core::Header<core::CreditBody> header{{core::FrameKind::kAck, 0, 0, 0, 0, 0, ack},
                                                credit};
    until([&] {
      return down_ || endpoint_->post({bytes_of(header), {}, 0, false}) != core::Post::kRetry;
    });
  }
  /// Gives both sides turns until the condition holds.
  template <class Condition>
  void until(Condition condition) {
    rig_.until([&] {
      turn();
      return condition();
    });
  }
  void turn() {
    if (endpoint_) transport_->progress(*this, monotonic_now(), 64);
    const core::FrameHead head{core::FrameKind::kHello, 0, 0, 0, 0, 0, 0};
    if (hello_out_ && !down_ && !(keeps_proof_ && challenged_) &&
        endpoint_->post({bytes_of(head), *hello_out_, 0, false}) != core::Post::kRetry)
      hello_out_.reset();
  }

  bool down() const noexcept { return down_; }
  /// How many frames of that kind have arrived.
  std::size_t came(core::FrameKind kind) const {
    const auto found = came_.find(kind);
    return found == came_.end() ? 0 : found->second;
  }
  /// The body of the last one.
  template <class Body>
  Body last(core::FrameKind kind) const {
    return core::decode_body<Body>(last_.at(kind));
  }
  /// What rank 0 knows of it.
  core::PeerStatus seen() const {
    for (const auto& peer : rig_.engines[0]->status().peers)
      if (peer.process == ProcessId{kProcess}) return peer;
    return {};
  }

 private:
  std::unique_ptr<core::Transport> make() {
    settings_.tcp_if = {"lo"};
    facts_.process = ProcessId{kProcess};
    facts_.settings = &settings_;
    auto made = kind("tcp").make(facts_);
    REQUIRE(made);
    return std::move(*made);
  }
  core::Handshake dial(const Claim& claim) const {
    core::HelloFacts facts;
    facts.job = claim.job;
    facts.incarnation = claim.incarnation;
    facts.process = ProcessId{kProcess};
    facts.path = kProcess;
    facts.label = "rank 7";
    facts.node = 42;
    facts.next_expected = facts.acknowledged = 1;
    facts.credit_bytes = 1 << 20;
    facts.credit_headers = 4096;
    facts.addresses = {{"tcp", transport_->address()}};
    return core::Handshake::dial(claim.secret, facts, ProcessId{Rig::kFirstProcess});
  }

  void on_accept(std::unique_ptr<core::Endpoint>) noexcept override {}
  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes header, Bytes payload) noexcept override {
    const auto head = core::decode_head(header);
    if (!head) return;
    if (head->kind != core::FrameKind::kHello) {
      ++came_[head->kind];
      last_[head->kind] = Blob(header.begin(), header.end());
      return;
    }
    auto step = handshake_.receive(Blob(payload.begin(), payload.end()));
    if (!step.send) return;
    hello_out_ = std::move(step.send);
    challenged_ = true;
  }
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error&) noexcept override { down_ = true; }

  Rig& rig_;
  Settings settings_;
  core::NodeFacts facts_;
  std::unique_ptr<core::Transport> transport_;
  std::unique_ptr<core::Endpoint> endpoint_;
  core::Handshake handshake_;
  std::optional<Blob> hello_out_;
  bool keeps_proof_;
  bool challenged_ = false;  // what is to be sent is the proof
  PortNumber port_ = 0;
  std::uint64_t next_seq_ = 1;
  std::map<core::FrameKind, std::size_t> came_;
  std::map<core::FrameKind, Blob> last_;
  bool down_ = false;
};

}  // namespace livebtl::test
