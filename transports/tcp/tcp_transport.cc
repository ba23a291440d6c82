// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_transport.cc -- see tcp_transport.h; where it listens is in tcp_listening.cc.
#include "transports/tcp/tcp_transport.h"

#include <sys/timerfd.h>

#include <algorithm>

#include "base/assert.h"
#include "transports/tcp/tcp_endpoint.h"

namespace livebtl::tcp {
namespace {

constexpr core::Caps kCaps{
    .payload_bytes_max = kPayloadBytesMax,
    .eager_bytes_max = 32u << 10,
    .keeps = true,
    .same_node_only = false,
    .exclusivity = 100,
    .latency_ns = 5'000,
    .bandwidth_mbps = 10'000,
};

constexpr long kTickNs = 250 * kMillisecond;

// Up to this many connections are read from directly; epoll then runs only every kTurnsPerPoll-th
// time, for new connections.
constexpr std::size_t kDirectMax = 2;
constexpr unsigned kTurnsPerPoll = 16;

}  // namespace

core::TransportKind tcp_kind() {
  return {"tcp", "",
          [](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
            return TcpTransport::make(facts);
          },
          kCaps.exclusivity, kCaps.bandwidth_mbps};
}

Result<std::unique_ptr<TcpTransport>> TcpTransport::make(const core::NodeFacts& facts,
                                                         const SocketOptions& options) {
  LIVEBTL_ASSERT(facts.settings != nullptr, "the facts have settings");
  auto local = choose_addresses(local_addresses(), facts.settings->tcp_if);
  if (!local) return tl::unexpected(local.error());
  if (local->empty()) {
    return fail(Errc::kUnreachable,
                "tcp: no network interface is up; bring one up (ip link set lo up)");
  }
  auto poller = Poller::make();
  if (!poller) return tl::unexpected(poller.error());
  Shared shared{.poller = std::move(*poller)};
  shared.node = facts.node;
  shared.crc = facts.settings->crc;
  shared.options = options;
  auto transport =
      std::unique_ptr<TcpTransport>(new TcpTransport(std::move(shared), facts, std::move(*local)));
  // Peers that have not connected yet know only the previous address.
  const auto before = decode_address(facts.previous_address);
  const std::uint16_t port_before = before ? before->sockets.front().port : 0;
  if (const Status opened = transport->open(port_before); !opened)
    return tl::unexpected(opened.error());
  return transport;
}

TcpTransport::TcpTransport(Shared shared, const core::NodeFacts& facts,
                           std::vector<LocalAddress> local)
    : shared_(std::move(shared)),
      interfaces_(facts.settings->tcp_if),
      port_(facts.settings->tcp_port),
      local_(std::move(local)),
      network_(network_hash()) {
  if (!facts.one_node || !interfaces_.empty()) return;
  const auto loopback = std::ranges::find_if(
      local_, [](const LocalAddress& address) { return is_loopback(address.ip); });
  if (loopback != local_.end()) near_ = loopback->ip;
}

TcpTransport::~TcpTransport() {
  LIVEBTL_ASSERT(shared_.open.empty() && shared_.dialling.empty(),
                 "endpoints are destroyed before their transport");
  shared_.poller.remove(tick_token_, tick_.number());
}

const core::Caps& TcpTransport::caps() const noexcept { return kCaps; }

bool TcpTransport::reaches(Bytes address) const noexcept {
  const auto peer = decode_address(address);
  if (!peer) return false;
  Reachable own;
  own.network = network_;
  return has_candidates(own, local_, *peer);
}

Result<std::unique_ptr<core::Endpoint>> TcpTransport::connect(Bytes address) {
  const auto peer = decode_address(address);
  if (!peer) return tl::unexpected(peer.error());
  const auto now = interfaces_.empty() ? local_addresses() : local_;
  auto candidates = order_candidates(describe_own(local_), now, *peer);
  if (candidates.empty()) {
    return fail(Errc::kUnreachable,
                "tcp: no address of the peer (first: " + to_text(peer->sockets.front()) +
                    ") is reachable from here; see LIVEBTL_TCP_IF");
  }
  auto dialler =
      std::make_unique<Dialler>(std::move(candidates), peer->node, shared_.node, shared_.options);
  return std::make_unique<TcpEndpoint>(shared_, std::move(dialler));
}

std::size_t TcpTransport::progress(core::TransportSink& accept, TimeNs now,
                                   std::size_t frames_max) noexcept {
  Turn turn{&accept, now, frames_max};
  if (!shared_.waiting.empty()) [[unlikely]]
    // One that is not served now keeps its place before those that are.
    shared_.waiting.walk([&](TcpEndpoint& endpoint) {
      if (turn.budget() != 0) endpoint.move_waiting(turn);
    });
  const bool deadlines = has_deadlines();
  const bool direct = !deadlines && shared_.backlogged == 0 && shared_.open.count() <= kDirectMax;
  if (direct) shared_.open.walk([&](TcpEndpoint& endpoint) { endpoint.move(turn); });
  if (!direct || shared_.open.empty() || ++turns_since_poll_ >= kTurnsPerPoll) {
    turns_since_poll_ = 0;
    shared_.poller.run(turn);
  }
  if (deadlines) {
    shared_.dialling.walk([&](TcpEndpoint& endpoint) { endpoint.move(turn); });
    arrivals_.sweep(now);
    listen_again(now);
  }
  set_ticking(has_deadlines());
  shared_.pace.polled(now, turn.frames, shared_.open.empty());
  return turn.frames;
}

// After a sleep on all descriptors the first turn looks at all of them.
bool TcpTransport::arm() noexcept {
  turns_since_poll_ = kTurnsPerPoll;
  shared_.pace.hurry();
  return shared_.waiting.empty();
}

void TcpTransport::set_ticking(bool ticking) noexcept {
  if (ticking_ == ticking) return;
  ticking_ = ticking;
  itimerspec period{};
  if (ticking) period.it_value.tv_nsec = period.it_interval.tv_nsec = kTickNs;
  ::timerfd_settime(tick_.number(), 0, &period, nullptr);
}

void TcpTransport::on_ready(Turn&) noexcept {
  std::uint64_t expirations = 0;
  // Every progress() with deadlines looks for what is due; this only makes the descriptor
  // unreadable.
  [[maybe_unused]] const ssize_t count = ::read(tick_.number(), &expirations, sizeof(expirations));
}

}  // namespace livebtl::tcp
