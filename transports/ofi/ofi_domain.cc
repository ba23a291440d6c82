// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_domain.cc -- see ofi_domain.h; what it does with memory is in ofi_memory.cc.
#include "transports/ofi/ofi_domain.h"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/assert.h"

namespace livebtl::ofi {
namespace {

constexpr std::uint32_t kPieceBuffers = 32;
/// Receives that every provider takes, whatever it says, and the most that we ask of one: some
/// claim to have no limit.
constexpr std::size_t kReceivesMin = 128;
constexpr std::size_t kReceivesMax = 16384;
constexpr TimeNs kNotSeenYet = -1;
constexpr std::size_t kSendsEver = 1024;

}  // namespace

Domain::Domain(const Library& library, Info info) noexcept
    : library_(library), info_(std::move(info)) {}

// The endpoint first: it ends all that is under way, and nothing refers to the buffers any more.
Domain::~Domain() {
  stop();
  completions_.close();
  addresses_.close();
}

Result<std::unique_ptr<Domain>> Domain::open(const Library& library, Info info,
                                             std::size_t queue_entries) {
  std::unique_ptr<Domain> domain(new Domain(library, std::move(info)));
  if (Status made = domain->set_up(queue_entries); !made) return tl::unexpected(made.error());
  return domain;
}

std::string Domain::explain(long code) const {
  return library_.strerror(static_cast<int>(code < 0 ? -code : code));
}

Status Domain::cannot(const char* what, long code) const {
  return fail(code == -FI_ENOMEM ? Errc::kNoMemory : Errc::kSystem,
              "ofi: " + provider() + " opens no " + what + ": " + explain(code));
}

// libfabric hides from its own layers what it hides from the program.
Status Domain::open_fabric() {
  const int code = library_.fabric(info_->fabric_attr, fabric_.out(), nullptr);
  if (code == 0) return {};
  const bool layers = provider().find(';') != std::string::npos;
  if (!layers || std::getenv("FI_PROVIDER") == nullptr) return cannot("fabric", code);
  return cannot(
      "fabric, perhaps since FI_PROVIDER hides what it is made of: let the program choose livebtl "
      "by other means (docs/PROVIDER.md), or use a provider without layers (net, sockets)",
      code);
}

Status Domain::set_up(std::size_t queue_entries) {
  if (Status opened = open_fabric(); !opened) return opened;
  if (const int code = fi_domain(fabric_.get(), info_.get(), domain_.out(), nullptr); code != 0)
    return cannot("domain", code);
  fi_av_attr addresses{};
  addresses.type = info_->domain_attr->av_type;
  if (const int code = fi_av_open(domain_.get(), &addresses, addresses_.out(), nullptr); code != 0)
    return cannot("address vector", code);
  if (Status made = open_queue(queue_entries); !made) return made;
  if (const int code = fi_endpoint(domain_.get(), info_.get(), endpoint_.out(), nullptr); code != 0)
    return cannot("endpoint", code);
  int code = fi_ep_bind(endpoint_.get(), addresses_.base(), 0);
  if (code == 0) code = fi_ep_bind(endpoint_.get(), completions_.base(), FI_TRANSMIT | FI_RECV);
  if (code == 0) code = fi_enable(endpoint_.get());
  if (code != 0)
    return cannot(provider().ends_with(";ofi_rxm")
                      ? "endpoint with its queues (where a device has short ones: "
                        "FI_UNIVERSE_SIZE=64 FI_OFI_RXM_MSG_TX_SIZE=64 FI_OFI_RXM_MSG_RX_SIZE=64)"
                      : "endpoint with its queues",
                  code);
  if (Status named = take_name(); !named) return named;
  peers_ = std::make_unique<Peers>(addresses_.get(), info_->addr_format, name_);
  if (Status added = add_piece(sends_, kSendsMax, FI_SEND); !added) return added;
  for (Buffer& buffer : sends_) free_sends_.push_back(&buffer);
  return {};
}

std::size_t Domain::receives_max() const noexcept {
  return std::clamp<std::size_t>(info_->rx_attr->size, kReceivesMin, kReceivesMax);
}

// Room for the completion of each operation that may be under way (the read of a payload takes the
// place of the receive that announced it), so that nothing has to be stored elsewhere or refused
// while the process computes and nobody reads the queue. A shorter one loses nothing: we ask for
// resource management, so a provider keeps completions, or reports that it is busy (FI_EAGAIN).
Status Domain::open_queue(std::size_t entries) {
  fi_cq_attr queue{};
  queue.size = entries != 0 ? entries : receives_max() + kSendsEver + kExtensionOperationsMax;
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

Status Domain::add_piece(std::deque<Buffer>& buffers, std::uint32_t count, std::uint64_t access) {
  const std::size_t bytes = count * kBufferBytes;
  Piece& piece = pieces_.emplace_back();
  piece.bytes.reset(new (std::nothrow) std::byte[bytes]());
  void* descriptor = nullptr;
  Status made = piece.bytes == nullptr ? cannot("memory for buffers", -FI_ENOMEM) : Status{};
  if (made && has_mode(FI_MR_LOCAL)) {
    auto region = register_memory({piece.bytes.get(), bytes}, access);
    if (region) {
      descriptor = fi_mr_desc(region->get());
      piece.region = std::move(*region);
    } else {
      made = tl::unexpected(region.error());
    }
  }
  if (!made) {
    pieces_.pop_back();
    return made;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    Buffer& buffer = buffers.emplace_back();
    buffer.bytes = piece.bytes.get() + i * kBufferBytes;
    buffer.descriptor = descriptor;
  }
  return {};
}

Result<std::span<Buffer* const>> Domain::add_receives() {
  const std::size_t before = receives_.size();
  if (before + kPieceBuffers > receives_max())
    return fail(Errc::kLimit, "ofi: " + provider() + " takes no more receive buffers");
  if (const Status added = add_piece(receives_, kPieceBuffers, FI_RECV | FI_READ); !added)
    return tl::unexpected(added.error());
  added_.clear();
  for (std::size_t i = before; i < receives_.size(); ++i) added_.push_back(&receives_[i]);
  return std::span<Buffer* const>(added_);
}

long Domain::post_receive(Buffer& buffer) noexcept {
  if (stopped()) return -FI_ESHUTDOWN;
  return fi_recv(endpoint_.get(), buffer.bytes, kBufferBytes, buffer.descriptor, FI_ADDR_UNSPEC,
                 &buffer.context);
}

Buffer* Domain::begin_send(OfiEndpoint* owner, std::uint32_t peer, Use use) noexcept {
  if (free_sends_.size() <= (use == Use::kFrame ? kControlSends : 0)) return nullptr;
  Buffer* const buffer = free_sends_.back();
  free_sends_.pop_back();
  buffer->owner = owner;
  if (owner == nullptr) buffer->orphan_since = kNotSeenYet;
  buffer->peer = peer;
  buffer->use = use;
  peers_->use(peer);
  return buffer;
}

long Domain::send(Buffer& buffer, std::size_t bytes) noexcept {
  long code = -FI_ESHUTDOWN;
  if (!stopped()) {
    code = fi_send(endpoint_.get(), buffer.bytes, bytes, buffer.descriptor,
                   peers_->address(buffer.peer), &buffer.context);
  }
  if (code != 0) end_send(buffer);
  return code;
}

void Domain::end_send(Buffer& buffer) noexcept {
  peers_->leave(buffer.peer);
  buffer.owner = nullptr;
  buffer.orphan_since = 0;
  free_sends_.push_back(&buffer);
}

void Domain::disown(const OfiEndpoint& owner) noexcept {
  for (Buffer& buffer : sends_) {
    if (buffer.owner == &owner) {
      buffer.owner = nullptr;
      buffer.orphan_since = kNotSeenYet;
    }
  }
}

// A send that completes after all is reused like any other.
Status Domain::replace_forgotten(TimeNs now) {
  std::uint32_t forgotten = 0;
  for (Buffer& buffer : sends_) {
    if (buffer.orphan_since == kNotSeenYet) buffer.orphan_since = now;
    if (buffer.orphan_since == 0 || now - buffer.orphan_since < kForgottenAfter) continue;
    buffer.orphan_since = 0;
    ++forgotten;
  }
  if (forgotten == 0) return {};
  if (sends_.size() + forgotten > kSendsEver)
    return fail(Errc::kLimit, "ofi: " + provider() + " has left too many sends unfinished");
  const std::size_t before = sends_.size();
  if (Status added = add_piece(sends_, forgotten, FI_SEND); !added) return added;
  for (std::size_t i = before; i < sends_.size(); ++i) free_sends_.push_back(&sends_[i]);
  return {};
}

long Domain::read(std::span<fi_cq_msg_entry> entries) noexcept {
  const long count = fi_cq_read(completions_.get(), entries.data(), entries.size());
  for (long i = 0; i < count; ++i) {
    const fi_cq_msg_entry& entry = entries[static_cast<std::size_t>(i)];
    note_end(entry.op_context, entry.flags);
  }
  return count == -FI_EAGAIN ? 0 : count;
}

bool Domain::read_error(fi_cq_err_entry& entry) noexcept {
  entry = {};
  if (fi_cq_readerr(completions_.get(), &entry, 0) != 1) return false;
  note_end(entry.op_context, entry.flags);
  return true;
}

// If libfabric cannot tell, the descriptor alone must do.
bool Domain::may_wait() noexcept {
  if (wait_fd_ < 0) return true;
  fid* queue = completions_.base();
  return fi_trywait(fabric_.get(), &queue, 1) != -FI_EAGAIN;
}

}  // namespace livebtl::ofi
