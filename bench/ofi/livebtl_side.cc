// SPDX-License-Identifier: BSD-3-Clause
// bench/ofi/livebtl_side.cc -- over transports/ofi, through its one-sided operations (see side.h).
#include <cstring>

#include "base/clock.h"
#include "base/settings.h"
#include "bench/ofi/side.h"
#include "transports/ofi/direct/onesided.h"

namespace livebtl::bench {
namespace {

using ofi::OfiEndpoint;
using ofi::OfiTransport;

class LivebtlSide final : public Side, ofi::OneSidedSink, core::EndpointSink, core::TransportSink {
 public:
  explicit LivebtlSide(const std::string& provider) {
    core::NodeFacts facts;
    facts.node = 1;
    facts.settings = &settings_;
    auto made = OfiTransport::make(facts, provider, "ofi", {ofi::one_sided(*this)});
    if (!made) give_up(made.error().text);
    transport_ = std::move(*made);
    const auto exposed = ofi::one_sided(*transport_).expose(memory_, Access::kReadWrite);
    if (!exposed) give_up(exposed.error().text);
    own_ = *exposed;
  }
  ~LivebtlSide() override { endpoint_.reset(); }

  void meet_as_origin(const Wire& wire) override {
    take(transport_->connect(wire.receive()));
    wire.send(endpoint().by_ticket()->ticket());
    endpoint().by_ticket()->take_ticket(wire.receive());
    const Blob theirs = wire.receive();
    if (theirs.size() != sizeof there_) give_up("the target is of another build");
    std::memcpy(&there_, theirs.data(), sizeof there_);
  }
  void meet_as_target(const Wire& wire) override {
    wire.send(transport_->contact());
    take(transport_->by_ticket()->admit(wire.receive()));
    wire.send(endpoint().by_ticket()->ticket());
    Blob ours(sizeof own_.remote);
    std::memcpy(ours.data(), &own_.remote, sizeof own_.remote);
    wire.send(ours);
  }

  bool put(std::size_t bytes) override {
    return posted(ofi::one_sided(*transport_).put(endpoint(), {own_.number, 0, bytes}, there_, 0));
  }
  bool fetch_add() override {
    const ofi::Atomic add{.op = AtomicOp::kSum, .scalar = Scalar::kU64, .operand = 1};
    return posted(ofi::one_sided(*transport_).atomic(endpoint(), there_, add, 0));
  }
  std::uint64_t progress() override {
    transport_->progress(*this, monotonic_now(), 64);
    return done_;
  }

 private:
  OfiEndpoint& endpoint() const { return static_cast<OfiEndpoint&>(*endpoint_); }
  void take(Result<std::unique_ptr<core::Endpoint>> made) {
    if (!made) give_up(made.error().text);
    endpoint_ = std::move(*made);
    endpoint_->attach(*this);
    endpoint_->trust();
  }
  static bool posted(const Result<core::Post>& post) {
    if (!post) give_up(post.error().text);
    return *post == core::Post::kPosted;
  }

  void on_done(std::uint64_t, const Status& how, std::uint64_t) noexcept override {
    if (!how) give_up(how.error().text);
    ++done_;
  }
  void on_accept(std::unique_ptr<core::Endpoint>) noexcept override {}
  MutableBytes on_place(Bytes, std::size_t, bool) noexcept override { return {}; }
  void on_frame(Bytes, Bytes) noexcept override {}
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error& why) noexcept override { give_up(why.text); }

  Settings settings_;
  Blob memory_ = Blob(kBytesMax);
  ofi::Exposed own_;
  Remote there_;
  std::uint64_t done_ = 0;
  std::unique_ptr<OfiTransport> transport_;
  std::unique_ptr<core::Endpoint> endpoint_;
};

}  // namespace

std::unique_ptr<Side> make_livebtl(const std::string& provider) {
  return std::make_unique<LivebtlSide>(provider);
}

}  // namespace livebtl::bench
