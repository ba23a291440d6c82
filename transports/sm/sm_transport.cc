// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_transport.cc -- creation, addresses and the hot path; the rare paths are in
// sm_accept.cc.
#include "transports/sm/sm_transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/transport_name.h"
#include "transports/sm/sm_bell.h"

namespace livebtl::sm {
namespace {

/// Turns without frames between two looks at the exposed buffers. A look takes the cache line from
/// the peer, which is about to write to it; and a frame also tells when a whole message has been
/// read, unless that frame comes over another transport. So a look is mostly for buffers of larger
/// messages, which nobody waits for unless all slots are taken.
constexpr std::uint32_t kSettleEvery = 256;

constexpr std::size_t kBurst = 16;  // frames of one endpoint before the next has its turn
constexpr TimeNs kSocketsEvery = 100 * kMicrosecond;

struct PeerAddress {
  std::uint64_t node = 0;
  ProcessId process{};  // none: malformed
};

PeerAddress parse_address(Bytes address) noexcept {
  ByteReader reader(address);
  const auto version = reader.take<std::uint8_t>();
  const PeerAddress parsed{reader.take<std::uint64_t>(), reader.take<ProcessId>()};
  return reader.finished() && version == kSegmentVersion ? parsed : PeerAddress{};
}

constexpr std::uint32_t kExclusivity = 1024;
constexpr std::uint32_t kBandwidthMbps = 80'000;
/// Small enough for the ends to copy at the same time, large enough for a frame's cost not to
/// count.
constexpr std::uint32_t kPieceBytesMax = 16u << 10;
/// Above this, an offer and its answer are worth their time: the ends then copy in pieces at the
/// same time, or the receiver reads an exposed buffer. Below, they cost more than the copy (ADR
/// 0025).
constexpr std::uint32_t kEagerBytesMax = 16u << 10;
/// Whatever any transport sent at once fits when this one sends it again.
constexpr std::uint32_t kFrameBytesMax = 32u << 10;

std::size_t usable_ring_bytes(std::size_t wanted) noexcept {
  return std::bit_ceil(std::clamp(wanted, kRingBytesMin, kRingBytesMax));
}

}  // namespace

core::TransportKind sm_kind() {
  return {"sm", std::string(alias_of("sm")),
          [](const core::NodeFacts& facts) {
            const SingleCopy way = facts.settings->sm_single_copy;
            return SmTransport::make(facts, facts.settings->sm_ring_bytes, way,
                                     way == SingleCopy::kNone ? KnemDevice() : KnemDevice::open());
          },
          kExclusivity, kBandwidthMbps};
}

Result<std::unique_ptr<core::Transport>> SmTransport::make(const core::NodeFacts& facts,
                                                           std::size_t ring_bytes,
                                                           SingleCopy single_copy,
                                                           KnemDevice knem) {
  auto directory = SocketDirectory::open(facts.job_directory);
  if (!directory) return tl::unexpected<Error>(directory.error());
  std::unique_ptr<SmTransport> made(new SmTransport(
      facts, std::move(*directory), usable_ring_bytes(ring_bytes), single_copy, std::move(knem)));
  if (const Status started = made->start(); !started) return tl::unexpected<Error>(started.error());
  return made;
}

SmTransport::SmTransport(const core::NodeFacts& facts, SocketDirectory directory,
                         std::size_t ring_bytes, SingleCopy single_copy, KnemDevice knem)
    : process_(facts.process),
      node_(facts.node),
      ring_bytes_(ring_bytes),
      single_copy_(single_copy),
      knem_(std::move(knem)),
      has_barrier_(register_barrier()),
      directory_(std::move(directory)) {
  caps_.payload_bytes_max =
      std::min(static_cast<std::uint32_t>(ring_payload_max(ring_bytes)), kFrameBytesMax);
  caps_.eager_bytes_max = std::min(caps_.payload_bytes_max, kEagerBytesMax);
  caps_.piece_bytes_max = std::min(caps_.payload_bytes_max, kPieceBytesMax);
  if (single_copy != SingleCopy::kNone) {
    caps_.zero_copy_bytes_min = caps_.eager_bytes_max + 1;
    caps_.zero_copy_bytes_max = kExposureBytesMax;
    caps_.copying_may_be_faster = single_copy == SingleCopy::kAuto;
  }
  caps_.keeps = false;
  caps_.same_node_only = true;
  caps_.exclusivity = kExclusivity;
  caps_.latency_ns = 100;
  caps_.bandwidth_mbps = kBandwidthMbps;
}

SmTransport::~SmTransport() {
  if (listener_) directory_.remove(socket_name(process_));
}

Blob SmTransport::address() const {
  ByteWriter writer;
  writer.put(kSegmentVersion);
  writer.put(node_);
  writer.put(process_);
  return writer.take();
}

bool SmTransport::reaches(Bytes address) const noexcept {
  const PeerAddress peer = parse_address(address);
  return peer.process != ProcessId{} && peer.node == node_;
}

Result<std::unique_ptr<core::Endpoint>> SmTransport::connect(Bytes address) {
  const PeerAddress peer = parse_address(address);
  if (peer.process == ProcessId{}) return fail(Errc::kInvalid, "not an address of sm");
  if (peer.node != node_)
    return fail(Errc::kUnreachable, "that process is on another node; sm serves one node only");
  auto endpoint = std::make_unique<SmEndpoint>(*this, next_id_++, peer.process);
  if (const Status dialled = dial(*endpoint); !dialled)
    return tl::unexpected<Error>(dialled.error());
  return endpoint;
}

std::size_t SmTransport::progress(core::TransportSink& accept, TimeNs now,
                                  std::size_t frames_max) noexcept {
  if (now >= sockets_due_) [[unlikely]] {
    sockets_due_ = now + kSocketsEvery;
    turn_sockets(accept, now);
  }
  std::size_t moved = 0;
  read_bytes_ = 0;
  // By index: a sink may open endpoints, and close any but its own.
  for (std::size_t left = polled_.size(); left > 0 && moved < frames_max && !has_read_enough();
       --left) {
    if (turn_ >= polled_.size()) {
      turn_ = 0;
      if (polled_.empty()) break;
    }
    SmEndpoint& endpoint = *polled_[turn_++];
    if (endpoint.waiting()) moved += endpoint.deliver(std::min(frames_max - moved, kBurst));
  }
  // After the frames: one of them may say that a whole message has arrived.
  if (!exposing_.empty()) [[unlikely]] {
    const bool news = std::exchange(exposed_news_, false);
    moved += settle_exposed(moved != 0 || news || ++turns_exposing_ % kSettleEvery == 0);
  }
  return moved;
}

// The barrier interrupts other processors. It is needed only for writers that have not been told
// since the last one that we sleep.
bool SmTransport::arm() noexcept {
  bool told = false;
  for (SmEndpoint* endpoint : polled_) told = endpoint->fall_asleep() || told;
  asleep_ = true;
  sockets_due_ = std::numeric_limits<TimeNs>::min();
  if (told) barrier_everywhere();
  exposed_news_ = std::ranges::any_of(exposing_, &SmEndpoint::has_news_of_exposed);
  return !exposed_news_ && std::ranges::none_of(polled_, [](const SmEndpoint* endpoint) {
    return endpoint->waiting() || endpoint->dialling() || endpoint->closing();
  });
}

// The deadlines of those that have not introduced themselves, and of a listener out of descriptors.
TimeNs SmTransport::wake_at() const noexcept {
  TimeNs at = listen_again_at_;
  for (const Unauthenticated& each : unauthenticated_) at = std::min(at, each.deadline);
  return at;
}

void SmTransport::wake() noexcept {
  if (!asleep_) return;
  asleep_ = false;
  for (SmEndpoint* endpoint : polled_) endpoint->wake();
}

void SmTransport::remove(SmEndpoint& endpoint) noexcept {
  stop_polling(endpoint);
  std::erase(endpoints_, &endpoint);
}

void SmTransport::stop_polling(SmEndpoint& endpoint) noexcept {
  std::erase(polled_, &endpoint);
  std::erase(exposing_, &endpoint);
}

void SmTransport::watch_exposed(SmEndpoint& endpoint) {
  if (std::find(exposing_.begin(), exposing_.end(), &endpoint) == exposing_.end())
    exposing_.push_back(&endpoint);
}

// From the back: what a sink exposes anew waits for the next turn. Not all: those whose sender
// waits.
std::size_t SmTransport::settle_exposed(bool all) noexcept {
  std::size_t settled = 0;
  for (std::size_t i = exposing_.size(); i-- > 0;) {
    if (i >= exposing_.size()) continue;
    SmEndpoint& endpoint = *exposing_[i];
    if (!all && !endpoint.exposes_no_more()) continue;
    settled += endpoint.settle_exposed();
    if (endpoint.in_flight() == 0) std::erase(exposing_, &endpoint);
  }
  return settled;
}

MutableBytes SmTransport::bounce_buffer() {
  bounce_buffer_.resize(kExposureBytesMax);
  return bounce_buffer_;
}

bool SmTransport::watch(SmEndpoint& endpoint, const Fd& socket, const Fd& process) noexcept {
  return watch_descriptor(socket.number(), endpoint.id() << 1) &&
         (!process || watch_descriptor(process.number(), endpoint.id() << 1 | 1));
}

bool SmTransport::watch_descriptor(int fd, std::uint64_t token) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = token;
  return ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// A child of this process may also hold the descriptor. If it were only closed here it would stay
// watched, and its end would wake this process forever.
void SmTransport::unwatch(const Fd& descriptor) noexcept {
  if (descriptor) ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor.number(), nullptr);
}

}  // namespace livebtl::sm
