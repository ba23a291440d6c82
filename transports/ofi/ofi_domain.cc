// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_domain.cc -- see ofi_domain.h.
#include "transports/ofi/ofi_domain.h"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <new>

#include "base/assert.h"

namespace livebtl::ofi {
namespace {

constexpr std::uint32_t kPieceBuffers = 32;
/// What a provider may have in its queue at a time; Open MPI asks for less.
constexpr std::size_t kQueueEntries = 1024;
/// Peers that are kept for when they are met again. (sockets would make a new connection for an
/// address that was removed and comes again, and keep the old one.)
constexpr std::uint32_t kUnusedPeersMax = 256;

}  // namespace

Domain::Domain(const Library& library, Info info) noexcept
    : library_(library), info_(std::move(info)) {}

// The endpoint first: what is under way ends with it, and nothing refers to the buffers any more.
Domain::~Domain() {
  endpoint_.close();
  completions_.close();
  addresses_.close();
}

Result<std::unique_ptr<Domain>> Domain::open(const Library& library, Info info) {
  std::unique_ptr<Domain> domain(new Domain(library, std::move(info)));
  if (Status made = domain->set_up(); !made) return tl::unexpected(made.error());
  return domain;
}

std::string Domain::explain(long code) const {
  return library_.strerror(static_cast<int>(code < 0 ? -code : code));
}

Status Domain::cannot(const char* what, long code) const {
  return fail(code == -FI_ENOMEM ? Errc::kNoMemory : Errc::kSystem,
              "ofi: " + provider() + " opens no " + what + ": " + explain(code));
}

Status Domain::set_up() {
  if (const int code = library_.fabric(info_->fabric_attr, fabric_.out(), nullptr); code != 0)
    return cannot("fabric", code);
  if (const int code = fi_domain(fabric_.get(), info_.get(), domain_.out(), nullptr); code != 0)
    return cannot("domain", code);
  fi_av_attr addresses{};
  addresses.type = info_->domain_attr->av_type;
  if (const int code = fi_av_open(domain_.get(), &addresses, addresses_.out(), nullptr); code != 0)
    return cannot("address vector", code);
  if (Status made = open_queue(); !made) return made;
  if (const int code = fi_endpoint(domain_.get(), info_.get(), endpoint_.out(), nullptr); code != 0)
    return cannot("endpoint", code);
  int code = fi_ep_bind(endpoint_.get(), addresses_.base(), 0);
  if (code == 0) code = fi_ep_bind(endpoint_.get(), completions_.base(), FI_TRANSMIT | FI_RECV);
  if (code == 0) code = fi_enable(endpoint_.get());
  if (code != 0) return cannot("endpoint with its queues", code);
  if (Status named = take_name(); !named) return named;
  for (std::uint32_t made = 0; made < kSendsMax; made += kPieceBuffers) {
    if (Status added = add_piece(sends_, FI_SEND); !added) return added;
  }
  for (Buffer& buffer : sends_) free_sends_.push_back(&buffer);
  return {};
}

Status Domain::open_queue() {
  fi_cq_attr queue{};
  queue.size = kQueueEntries;
  queue.format = FI_CQ_FORMAT_MSG;
  queue.wait_obj = FI_WAIT_FD;
  int code = fi_cq_open(domain_.get(), &queue, completions_.out(), nullptr);
  if (code == 0 && fi_control(completions_.base(), FI_GETWAIT, &wait_fd_) == 0) return {};
  wait_fd_ = -1;
  completions_.close();
  queue.wait_obj = FI_WAIT_NONE;
  code = fi_cq_open(domain_.get(), &queue, completions_.out(), nullptr);
  return code == 0 ? Status{} : cannot("completion queue", code);
}

Status Domain::take_name() {
  Blob name(kNameBytesMax);
  std::size_t bytes = name.size();
  const int code = fi_getname(&endpoint_.get()->fid, name.data(), &bytes);
  if (code == -FI_ETOOSMALL)
    return fail(Errc::kUnsupported,
                "ofi: " + provider() + " has longer addresses than livebtl carries");
  if (code != 0) return cannot("endpoint with a name", code);
  name.resize(bytes);
  name_ = std::move(name);
  return {};
}

Status Domain::add_piece(std::deque<Buffer>& buffers, std::uint64_t access) {
  constexpr std::size_t kBytes = kPieceBuffers * kBufferBytes;
  Piece& piece = pieces_.emplace_back();
  piece.bytes.reset(new (std::nothrow) std::byte[kBytes]());
  if (piece.bytes == nullptr) return fail(Errc::kNoMemory, "ofi: no memory for buffers");
  void* descriptor = nullptr;
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {
    const int code = fi_mr_reg(domain_.get(), piece.bytes.get(), kBytes, access, 0, pieces_.size(),
                               0, piece.region.out(), nullptr);
    if (code != 0) return cannot("memory region (is `ulimit -l` too low?)", code);
    descriptor = fi_mr_desc(piece.region.get());
  }
  for (std::uint32_t i = 0; i < kPieceBuffers; ++i) {
    Buffer& buffer = buffers.emplace_back();
    buffer.bytes = piece.bytes.get() + i * kBufferBytes;
    buffer.descriptor = descriptor;
  }
  return {};
}

Result<std::uint32_t> Domain::add_receives() {
  const std::size_t before = receives_.size();
  if (const Status added = add_piece(receives_, FI_RECV); !added)
    return tl::unexpected(added.error());
  for (std::size_t i = before; i < receives_.size(); ++i) {
    if (const long code = post_receive(receives_[i]); code != 0)
      return fail(Errc::kSystem,
                  "ofi: " + provider() + " takes no more receive buffers: " + explain(code));
  }
  return kPieceBuffers;
}

long Domain::post_receive(Buffer& buffer) noexcept {
  return fi_recv(endpoint_.get(), buffer.bytes, kBufferBytes, buffer.descriptor, FI_ADDR_UNSPEC,
                 &buffer.context);
}

Result<std::uint32_t> Domain::enter_peer(Bytes name) {
  const Blob key(name.begin(), name.end());
  if (const auto known = peers_by_name_.find(key); known != peers_by_name_.end()) {
    if (peers_[known->second].uses++ == 0) --unused_peers_;
    return known->second;
  }
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  // What libfabric reads ends with a zero, or is as long as our own name.
  const bool fits =
      info_->addr_format == FI_ADDR_STR ? name.back() == std::byte{0} : name.size() == name_.size();
  const int count = fits ? fi_av_insert(addresses_.get(), key.data(), 1, &address, 0, nullptr) : 0;
  if (count != 1)
    return fail(Errc::kInvalid, "ofi: " + provider() + " does not know such an address");
  if (unused_peers_ > kUnusedPeersMax) forget_a_peer();
  const auto free = std::find_if(peers_.begin(), peers_.end(),
                                 [](const Peer& peer) { return peer.name.empty(); });
  const auto index = static_cast<std::uint32_t>(free - peers_.begin());
  if (free == peers_.end()) peers_.emplace_back();
  peers_[index] = {address, 1, key};
  peers_by_name_[key] = index;
  return index;
}

void Domain::forget_a_peer() noexcept {
  const auto unused = std::find_if(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.uses == 0 && !peer.name.empty();
  });
  if (unused == peers_.end()) return;
  fi_av_remove(addresses_.get(), &unused->address, 1, 0);
  peers_by_name_.erase(unused->name);
  *unused = {};
  --unused_peers_;
}

void Domain::leave_peer(std::uint32_t peer) noexcept {
  Peer& left = peers_[peer];
  LIVEBTL_ASSERT(left.uses > 0, "a peer is left once for each use");
  if (--left.uses == 0) ++unused_peers_;
}

Buffer* Domain::begin_send(OfiEndpoint& owner, std::uint32_t peer, Use use) noexcept {
  if (free_sends_.size() <= (use == Use::kFrame ? kWordSends : 0)) return nullptr;
  Buffer* const buffer = free_sends_.back();
  free_sends_.pop_back();
  buffer->owner = &owner;
  buffer->peer = peer;
  buffer->use = use;
  ++peers_[peer].uses;
  return buffer;
}

long Domain::send(Buffer& buffer, std::size_t bytes) noexcept {
  const long code = fi_send(endpoint_.get(), buffer.bytes, bytes, buffer.descriptor,
                            peers_[buffer.peer].address, &buffer.context);
  if (code != 0) end_send(buffer);
  return code;
}

void Domain::end_send(Buffer& buffer) noexcept {
  leave_peer(buffer.peer);
  buffer.owner = nullptr;
  free_sends_.push_back(&buffer);
}

void Domain::disown(const OfiEndpoint& owner) noexcept {
  for (Buffer& buffer : sends_) {
    if (buffer.owner == &owner) buffer.owner = nullptr;
  }
}

long Domain::read(std::span<fi_cq_msg_entry> entries) noexcept {
  const long count = fi_cq_read(completions_.get(), entries.data(), entries.size());
  return count == -FI_EAGAIN ? 0 : count;
}

bool Domain::read_error(fi_cq_err_entry& entry) noexcept {
  entry = {};
  return fi_cq_readerr(completions_.get(), &entry, 0) == 1;
}

bool Domain::may_wait() noexcept {
  if (wait_fd_ < 0) return true;
  fid* const queue = completions_.base();
  return fi_trywait(fabric_.get(), const_cast<fid**>(&queue), 1) == FI_SUCCESS;
}

}  // namespace livebtl::ofi
