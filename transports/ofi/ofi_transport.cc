// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_transport.cc -- opening, connecting, sleeping (see ofi_transport.h); progress
// is in ofi_progress.cc.
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
    .exclusivity = 256,  // before tcp, after verbs
    .latency_ns = 5'000,
    .bandwidth_mbps = 10'000,
};

}  // namespace

core::TransportKind ofi_kind() { return ofi_kind(""); }

core::TransportKind ofi_kind(const std::string& provider) {
  const std::string name = provider.empty() ? "ofi" : "ofi:" + provider;
  return {name,
          "",
          [=](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
            return OfiTransport::make(
                facts, provider.empty() ? facts.settings->ofi_provider : provider, name);
          },
          kCaps.exclusivity,
          kCaps.bandwidth_mbps,
          true,
          true,  // the provider may use a device
          messages::rdma_devices()};
}

Result<std::unique_ptr<OfiTransport>> OfiTransport::make(const core::NodeFacts& facts,
                                                         const std::string& provider,
                                                         const std::string& name,
                                                         const Options& options) {
  const auto found = options.library != nullptr ? options.library : library();
  if (!found) return tl::unexpected(found.error());
  auto sleep = Sleep::open();
  if (!sleep) return tl::unexpected(sleep.error());
  std::unique_ptr<OfiTransport> made(
      new OfiTransport(facts, **found, provider, name, options, std::move(*sleep)));
  if (const Status opened = made->open_domain(); !opened) return tl::unexpected(opened.error());
  const fi_info& info = made->domain_->info();
  // A provider within a node may read without asking (shm), and does not say which read failed.
  if ((info.caps & FI_RMA) != 0 && leaves_the_node(info) &&
      info.ep_attr->max_msg_size >= messages::kExposedBytesMax) {
    made->caps_.zero_copy_bytes_min = messages::kExposedBytesMin;
    made->caps_.zero_copy_bytes_max = messages::kExposedBytesMax;
  }
  return made;
}

OfiTransport::OfiTransport(const core::NodeFacts& facts, const Library& library,
                           const std::string& provider, const std::string& name,
                           const Options& options, Sleep sleep)
    : MessageTransport(facts),
      library_(library),
      provider_(provider),
      name_(name),
      options_(options),
      caps_(kCaps),
      sleep_(std::move(sleep)) {}

Status OfiTransport::open_domain() {
  auto info = choose_provider(library_, provider_, kBufferBytes,
                              {options_.extension != nullptr, options_.memory_modes});
  if (!info) return tl::unexpected(info.error());
  auto domain = Domain::open(library_, std::move(*info), options_.queue_entries);
  if (!domain) return tl::unexpected(domain.error());
  std::unique_ptr<Extension> extension;
  if (options_.extension) {
    auto made = options_.extension(**domain);
    if (!made) return tl::unexpected(made.error());
    extension = std::move(*made);
  }
  messages::Credits credits;
  unposted_.clear();
  if (Status made = make_room(**domain, credits); !made) return made;
  sleep_.watch((*domain)->wait_fd());
  end_domain();
  domain_ = std::move(*domain);
  extension_ = std::move(extension);
  credits_ = credits;
  unsettled_.clear();
  seen_count_ = 0;
  lost_.clear();
  address_.provider = hash_of_provider(domain_->provider(), domain_->info().addr_format);
  address_.node = leaves_the_node(domain_->info()) ? 0 : node_;
  return {};
}

// Users are told once libfabric no longer touches their memory.
void OfiTransport::end_domain() noexcept {
  if (domain_ == nullptr) return;
  pending_byes_.look(*domain_, now_);  // a last try
  pending_byes_.forget();
  domain_->stop();
  if (extension_) extension_->end();
  if (domain_->is_stuck()) {
    log(LogLevel::kWarn, "ofi",
        "%s cannot be closed: a peer has stalled in the middle of an answer",
        domain_->provider().c_str());
    for (auto& read : left_reads_) (void)read.release();
    (void)extension_.release();
    (void)domain_.release();
  }
  left_reads_.clear();
  bounces_.clear();
  extension_.reset();
  domain_.reset();
}

// Buffers that the provider does not take at once are posted in progress().
Status OfiTransport::make_room(Domain& domain, messages::Credits& credits) {
  while (!credits.has_room()) {
    const auto added = domain.add_receives();
    if (!added) return tl::unexpected(added.error());
    for (Buffer* const buffer : *added) {
      if (domain.post_receive(*buffer) != 0) unposted_.push_back(buffer);
    }
    credits.add_buffers(static_cast<std::uint32_t>(added->size()));
  }
  return {};
}

std::uint32_t OfiTransport::sends_for_each() const noexcept {
  constexpr std::uint32_t kFrameSends = kSendsMax - kControlSends;
  return std::max(2U, kFrameSends / std::max(1U, static_cast<std::uint32_t>(ends_.size())));
}

OfiTransport::~OfiTransport() {
  LIVEBTL_ASSERT(ends_.empty(), "endpoints are destroyed before their transport");
  end_domain();
}

bool OfiTransport::reaches(Bytes address) const noexcept {
  const auto peer = decode_address(address);
  return peer && may_reach(*peer, address_);
}

Result<std::unique_ptr<OfiEndpoint>> OfiTransport::make_endpoint(bool dialled) {
  if (!lost_.empty()) return fail(Errc::kUnreachable, lost_);
  if (const Status made = make_room(*domain_, credits_); !made) return tl::unexpected(made.error());
  std::uint64_t token = 0;
  while (token == 0 || ends_.contains(token)) token = random_u64();
  return std::make_unique<OfiEndpoint>(*this, token, dialled);
}

Result<std::unique_ptr<core::Endpoint>> OfiTransport::connect(Bytes address) {
  if (const auto peer = decode_address(address); !peer) return tl::unexpected(peer.error());
  return make_endpoint(true);
}

Result<std::unique_ptr<core::Endpoint>> OfiTransport::admit(Bytes ticket) {
  const auto peer = decode_ticket(ticket);
  if (!peer) return tl::unexpected(peer.error());
  if (is_crowded()) return fail(Errc::kLimit, "ofi: too many connections wait for a hello");
  auto made = make_endpoint(false);
  if (!made) return tl::unexpected(made.error());
  if (const Status connected = (*made)->connect(*peer); !connected)
    return tl::unexpected(connected.error());
  return made;
}

// A loss is reported before it is repaired, and repaired once all connections have gone.
Status OfiTransport::usable() {
  if (const std::string loss = std::exchange(untold_, ""); !loss.empty())
    return fail(Errc::kUnreachable, loss);
  if (lost_.empty()) return {};
  return ends_.empty() ? open_domain() : fail(Errc::kUnreachable, lost_);
}

std::vector<int> OfiTransport::descriptors() const {
  std::vector<int> all = sleep_.descriptors();
  if (domain_->wait_fd() >= 0) all.push_back(domain_->wait_fd());
  return all;
}

bool OfiTransport::arm() noexcept {
  // Nothing can arrive. Remaining endpoints must be told; whoever reopens the provider has a timer.
  if (!lost_.empty()) return ends_.empty();
  if (!unsettled_.empty() || !unposted_.empty() || seen_count_ != 0) return false;
  if (!domain_->may_wait()) return false;
  const long count = domain_->read(seen_);
  if (count > 0) seen_count_ = static_cast<std::size_t>(count);
  return count == 0 && sleep_.arm();  // an error is read again by progress()
}

// look() has times to check while something is under way; a sleeping process seldom probes idle
// peers.
TimeNs OfiTransport::wake_at() const noexcept {
  const bool waits =
      pending_byes_.count() != 0 || !left_reads_.empty() || extension_ != nullptr ||
      std::ranges::any_of(ends_, [](const auto& each) { return each.second->waits(); });
  if (waits) return now_ + kSecond;
  return ends_.empty() ? kNoDeadline : now_ + messages::kAskAsleepEvery;
}

void OfiTransport::end_all_of(OfiEndpoint& endpoint) noexcept {
  credits_.leave(endpoint.open_grants());
  domain_->disown(endpoint);
  if (extension_) extension_->disown(endpoint);
}

}  // namespace livebtl::ofi
