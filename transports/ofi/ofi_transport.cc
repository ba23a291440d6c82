// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_transport.cc -- see ofi_transport.h.
#include "transports/ofi/ofi_transport.h"

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "base/secret.h"
#include "transports/ofi/ofi_provider.h"

namespace livebtl::ofi {
namespace {

constexpr core::Caps kCaps{
    .payload_bytes_max = kPayloadBytesMax,
    .eager_bytes_max = 16u << 10,
    .keeps = true,
    .same_node_only = false,
    .by_ticket = true,
    .exclusivity = 256,  // before tcp, behind verbs
    .latency_ns = 5'000,
    .bandwidth_mbps = 10'000,
};

constexpr TimeNs kSweepEvery = 100 * kMillisecond;
constexpr std::size_t kStrangersMax = 64;
/// Completions in one progress(), beside those of frames: others have their turn.
constexpr std::size_t kCompletionsPerTurn = 256;

}  // namespace

core::TransportKind ofi_kind() {
  return {"ofi",
          "",
          [](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
            auto made = OfiTransport::make(facts, facts.settings->ofi_provider);
            if (!made) return tl::unexpected(made.error());
            return std::unique_ptr<core::Transport>(std::move(*made));
          },
          kCaps.exclusivity,
          kCaps.bandwidth_mbps,
          true,
          true};  // what lies beneath may be a device
}

Result<std::unique_ptr<OfiTransport>> OfiTransport::make(const core::NodeFacts& facts,
                                                         const std::string& provider) {
  const auto found = library();
  if (!found) return tl::unexpected(found.error());
  auto info = choose_provider(**found, provider, kBufferBytes);
  if (!info) return tl::unexpected(info.error());
  auto domain = Domain::open(**found, std::move(*info));
  if (!domain) return tl::unexpected(domain.error());
  auto sleep = Sleep::open((*domain)->wait_fd());
  if (!sleep) return tl::unexpected(sleep.error());
  std::unique_ptr<OfiTransport> made(
      new OfiTransport(facts, std::move(*domain), std::move(*sleep)));
  while (!made->credits_.has_room()) {
    const auto added = made->domain_->add_receives();
    if (!added) return tl::unexpected(added.error());
    made->credits_.add_buffers(*added);
  }
  return made;
}

OfiTransport::OfiTransport(const core::NodeFacts& facts, std::unique_ptr<Domain> domain,
                           Sleep sleep)
    : node_(facts.node),
      crc_(facts.settings->crc),
      random_(random_u64()),
      domain_(std::move(domain)),
      sleep_(std::move(sleep)) {
  address_.provider = hash_of_provider(domain_->provider(), domain_->info().addr_format);
  address_.node = leaves_the_node(domain_->info()) ? 0 : node_;
}

OfiTransport::~OfiTransport() {
  LIVEBTL_ASSERT(endpoints_.empty(), "endpoints are destroyed before their transport");
}

const core::Caps& OfiTransport::caps() const noexcept { return kCaps; }

bool OfiTransport::reaches(Bytes address) const noexcept {
  const auto peer = decode_address(address);
  return peer && may_reach(*peer, address_);
}

bool OfiTransport::wants_payload_crc(std::uint64_t peer_node) const noexcept {
  return crc_ == CrcMode::kAlways || (crc_ == CrcMode::kNetwork && peer_node != node_);
}

Result<std::unique_ptr<OfiEndpoint>> OfiTransport::make_endpoint(bool dialled) {
  if (!lost_.empty()) return fail(Errc::kUnreachable, lost_);
  if (!credits_.has_room()) {
    const auto added = domain_->add_receives();
    if (!added) return tl::unexpected(added.error());
    credits_.add_buffers(*added);
  }
  std::uint64_t token = 0;
  while (token == 0 || endpoints_.contains(token)) token = random_u64();
  return std::make_unique<OfiEndpoint>(*this, token, dialled);
}

Result<std::unique_ptr<core::Endpoint>> OfiTransport::connect(Bytes address) {
  const auto peer = decode_address(address);
  if (!peer) return tl::unexpected(peer.error());
  auto made = make_endpoint(true);
  if (!made) return tl::unexpected(made.error());
  return std::unique_ptr<core::Endpoint>(std::move(*made));
}

Result<std::unique_ptr<core::Endpoint>> OfiTransport::admit(Bytes ticket) {
  const auto peer = decode_ticket(ticket);
  if (!peer) return tl::unexpected(peer.error());
  const auto strangers = std::count_if(endpoints_.begin(), endpoints_.end(),
                                       [](const auto& each) { return !each.second->trusted(); });
  if (static_cast<std::size_t>(strangers) >= kStrangersMax)
    return fail(Errc::kLimit, "ofi: too many connections wait for a hello");
  auto made = make_endpoint(false);
  if (!made) return tl::unexpected(made.error());
  if (const Status connected = (*made)->connect(*peer); !connected)
    return tl::unexpected(connected.error());
  return std::unique_ptr<core::Endpoint>(std::move(*made));
}

Status OfiTransport::usable() { return lost_.empty() ? Status{} : fail(Errc::kUnreachable, lost_); }

std::vector<int> OfiTransport::descriptors() const {
  std::vector<int> all = sleep_.descriptors();
  if (domain_->wait_fd() >= 0) all.push_back(domain_->wait_fd());
  return all;
}

bool OfiTransport::arm() noexcept {
  if (!unsettled_.empty() || !unposted_.empty() || seen_count_ != 0 || !lost_.empty()) return false;
  if (!domain_->may_wait()) return false;
  const long count = domain_->read(seen_);
  if (count > 0) seen_count_ = static_cast<std::size_t>(count);
  return count == 0 && sleep_.arm();  // an error is read again by progress()
}

std::size_t OfiTransport::take_seen(std::size_t frames_max) noexcept {
  std::size_t moved = 0, at = 0;
  while (at < seen_count_ && moved < frames_max) moved += complete(seen_[at++], frames_max - moved);
  std::copy(seen_.begin() + static_cast<std::ptrdiff_t>(at),
            seen_.begin() + static_cast<std::ptrdiff_t>(seen_count_), seen_.begin());
  seen_count_ -= at;
  return moved;
}

std::size_t OfiTransport::progress(core::TransportSink& /*accept*/, TimeNs now,
                                   std::size_t frames_max) noexcept {
  now_ = now;
  sleep_.wake();
  if (!lost_.empty()) {
    all_down();
    return 0;
  }
  post_again();
  std::size_t moved = settle(frames_max);
  moved += take_seen(frames_max - moved);
  if (seen_count_ == 0) moved += poll(frames_max - moved);
  if (now >= sweep_at_) {
    sweep_at_ = now + kSweepEvery;
    // By token: a sink may destroy other endpoints.
    std::vector<std::uint64_t> tokens;
    for (const auto& [token, endpoint] : endpoints_) tokens.push_back(token);
    for (const std::uint64_t token : tokens) {
      if (const auto at = endpoints_.find(token); at != endpoints_.end()) at->second->look(now);
    }
  }
  return moved;
}

// What endpoints could not say or report when it happened; frames that had to wait.
std::size_t OfiTransport::settle(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  // By index: a sink may add to the list, and destroy endpoints, which leaves holes in it.
  const std::size_t count = unsettled_.size();
  for (std::size_t i = 0; i < count; ++i) {
    OfiEndpoint* const endpoint = std::exchange(unsettled_[i], nullptr);
    if (endpoint == nullptr) continue;
    endpoint->settle();
    moved += endpoint->deliver(frames_max - moved);
    if (endpoint->has_ready()) settle_later(*endpoint);
  }
  std::erase(unsettled_, nullptr);
  return moved;
}

std::size_t OfiTransport::poll(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  std::array<fi_cq_msg_entry, 16> entries;
  for (std::size_t seen = 0; moved < frames_max && seen < kCompletionsPerTurn;) {
    const long count =
        domain_->read({entries.data(), std::min(entries.size(), frames_max - moved)});
    if (count == -FI_EAVAIL) {
      take_error();
      ++seen;
      continue;
    }
    if (count < 0) lost_ = "ofi: " + domain_->provider() + ": " + domain_->explain(count);
    if (count <= 0) break;
    for (long i = 0; i < count; ++i)
      moved += complete(entries[static_cast<std::size_t>(i)], frames_max - moved);
    seen += static_cast<std::size_t>(count);
  }
  return moved;
}

// Returns how many frames were handed on.
std::size_t OfiTransport::complete(const fi_cq_msg_entry& entry, std::size_t frames_max) noexcept {
  sleep_.worked();
  Buffer& buffer = *static_cast<Buffer*>(entry.op_context);
  if (buffer.use == Use::kReceive) return received(buffer, entry.len, frames_max);
  sent(buffer, 0);
  return 0;
}

void OfiTransport::take_error() noexcept {
  fi_cq_err_entry entry;
  if (!domain_->read_error(entry) || entry.op_context == nullptr) return;
  Buffer& buffer = *static_cast<Buffer*>(entry.op_context);
  if (buffer.use == Use::kReceive) return buffer_free(buffer);  // its connection finds a gap
  sent(buffer, entry.err == 0 ? FI_EIO : entry.err);
}

std::size_t OfiTransport::received(Buffer& buffer, std::size_t bytes,
                                   std::size_t frames_max) noexcept {
  Route route;
  if (bytes > sizeof route && bytes <= kBufferBytes) {
    std::memcpy(&route, buffer.bytes, sizeof route);
    if (const auto to = endpoints_.find(route.to); to != endpoints_.end()) {
      OfiEndpoint& endpoint = *to->second;
      endpoint.arrived(route.number, {&buffer, static_cast<std::uint32_t>(bytes)});
      const std::size_t moved = endpoint.deliver(frames_max);
      if (endpoint.has_ready()) settle_later(endpoint);
      return moved;
    }
  } else if (!std::exchange(stranger_told_, true)) {
    log(LogLevel::kWarn, "ofi", "somebody sends what is none of livebtl's messages; dropped");
  }
  buffer_free(buffer);  // late, or from a stranger
  return 0;
}

void OfiTransport::sent(Buffer& buffer, long code) noexcept {
  OfiEndpoint* const owner = buffer.owner;
  const Use use = buffer.use;
  domain_->end_send(buffer);
  if (owner != nullptr) owner->sent(use, code);
}

void OfiTransport::buffer_free(Buffer& buffer) noexcept {
  if (domain_->post_receive(buffer) != 0) unposted_.push_back(&buffer);
}

void OfiTransport::post_again() noexcept {
  for (std::size_t tries = unposted_.size(); tries > 0 && !unposted_.empty(); --tries) {
    if (domain_->post_receive(*unposted_.back()) != 0) return;
    unposted_.pop_back();
  }
}

void OfiTransport::all_down() noexcept {
  std::vector<std::uint64_t> tokens;
  for (const auto& [token, endpoint] : endpoints_) tokens.push_back(token);
  for (const std::uint64_t token : tokens) {
    const auto at = endpoints_.find(token);
    if (at != endpoints_.end()) at->second->take_down({Errc::kDown, lost_});
  }
}

void OfiTransport::enter(OfiEndpoint& endpoint) {
  credits_.enter();
  endpoints_[endpoint.token()] = &endpoint;
}

void OfiTransport::leave(OfiEndpoint& endpoint, std::uint32_t open_promises) noexcept {
  credits_.leave(open_promises);
  domain_->disown(endpoint);
  endpoints_.erase(endpoint.token());
  std::replace(unsettled_.begin(), unsettled_.end(), &endpoint, static_cast<OfiEndpoint*>(nullptr));
}

void OfiTransport::settle_later(OfiEndpoint& endpoint) noexcept {
  if (std::find(unsettled_.begin(), unsettled_.end(), &endpoint) == unsettled_.end())
    unsettled_.push_back(&endpoint);
}

}  // namespace livebtl::ofi
