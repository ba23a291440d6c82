// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/direct/onesided.cc -- see onesided.h.
#include "transports/ofi/direct/onesided.h"

#include <rdma/fi_atomic.h>

#include "transports/ofi/ofi_endpoint.h"
#include "transports/ofi/ofi_provider.h"

namespace livebtl::ofi {
namespace {

using core::Post;

/// As long as a gigabyte takes on a slow network.
constexpr TimeNs kOperationTime = 30 * kSecond;

// Indexed by AtomicOp and Scalar.
constexpr std::array kOps{FI_MIN,         FI_MAX,          FI_SUM,      FI_PROD,     FI_LOR,
                          FI_LAND,        FI_LXOR,         FI_BOR,      FI_BAND,     FI_BXOR,
                          FI_ATOMIC_READ, FI_ATOMIC_WRITE, FI_CSWAP,    FI_CSWAP_NE, FI_CSWAP_LE,
                          FI_CSWAP_LT,    FI_CSWAP_GE,     FI_CSWAP_GT, FI_MSWAP};
static_assert(kOps.size() == static_cast<std::size_t>(AtomicOp::kMaskedSwap) + 1);
constexpr std::array kScalars{FI_INT8,   FI_UINT8, FI_INT16,  FI_UINT16, FI_INT32,
                              FI_UINT32, FI_INT64, FI_UINT64, FI_FLOAT,  FI_DOUBLE};
constexpr std::array<std::uint32_t, kScalars.size()> kScalarBytes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
static_assert(kScalars.size() == static_cast<std::size_t>(Scalar::kF64) + 1);

fi_op op_of(const Atomic& what) noexcept { return kOps[static_cast<std::size_t>(what.op)]; }
fi_datatype scalar_of(const Atomic& what) noexcept {
  return kScalars[static_cast<std::size_t>(what.scalar)];
}

bool allows(Access access, Access wanted) noexcept {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(wanted)) != 0;
}

bool compares(const Atomic& what) noexcept { return what.op >= AtomicOp::kCompareSwap; }

}  // namespace

Result<std::unique_ptr<OneSided>> OneSided::make(Domain& domain, OneSidedSink& sink) {
  std::unique_ptr<OneSided> made(new OneSided(domain, sink));
  auto registration = domain.register_memory(
      {reinterpret_cast<std::byte*>(made->words_.data()), sizeof made->words_}, FI_READ | FI_WRITE);
  if (!registration) return tl::unexpected(registration.error());
  made->words_registration_ = std::move(*registration);
  made->words_descriptor_ = Domain::descriptor(made->words_registration_);
  for (std::uint32_t i = 0; i < kOperationsMax; ++i) {
    made->operations_[i].use = Use::kExtension;
    made->operations_[i].words = &made->words_[i];
    made->free_.push_back(&made->operations_[i]);
  }
  return made;
}

Result<Exposed> OneSided::expose(MutableBytes memory, Access peers) {
  if (memory.empty()) return fail(Errc::kInvalid, "ofi: memory of no bytes cannot be exposed");
  // A provider within a node may let its peers copy without checking rights (shm).
  if (peers != Access::kReadWrite && !leaves_the_node(domain_.info()))
    return fail(Errc::kUnsupported, "ofi: " + domain_.provider() +
                                        " does not enforce access rights: expose memory that peers "
                                        "may read and write, or use a provider that reaches other "
                                        "machines");
  std::uint64_t access = FI_READ | FI_WRITE;
  if (allows(peers, Access::kRead)) access |= FI_REMOTE_READ;
  if (allows(peers, Access::kWrite)) access |= FI_REMOTE_WRITE;
  auto registration = domain_.register_memory(memory, access);
  if (!registration) return tl::unexpected(registration.error());
  const Exposed exposed{next_number_++, memory.size(), domain_.remote(*registration, memory)};
  regions_[exposed.number] = {memory, std::move(*registration)};
  return exposed;
}

Result<Post> OneSided::transfer(bool writes, OfiEndpoint& peer, const Local& local,
                                const Remote& remote, std::uint64_t cookie) {
  const auto region = regions_.find(local.number);
  if (region == regions_.end())
    return fail(Errc::kInvalid, "ofi: memory that is not exposed, or not any more");
  const MutableBytes memory = region->second.memory;
  if (local.bytes == 0 || local.bytes > bytes_max() || local.offset > memory.size() ||
      local.bytes > memory.size() - local.offset)
    return fail(Errc::kInvalid, "ofi: a range that is empty, too long or not within its memory");
  Operation* const operation = begin(peer, cookie);
  if (operation == nullptr) return Post::kRetry;
  const Transfer transfer{memory.subspan(local.offset, local.bytes),
                          Domain::descriptor(region->second.registration), operation->peer, remote};
  return began(*operation, writes ? domain_.begin_write(transfer, *operation)
                                  : domain_.begin_read(transfer, *operation));
}

bool OneSided::has(const Atomic& what) const noexcept {
  if (domain_.stopped()) return false;
  std::size_t count = 0;
  fid_ep* const endpoint = domain_.endpoint();
  return (compares(what)
              ? fi_compare_atomicvalid(endpoint, scalar_of(what), op_of(what), &count)
              : fi_fetch_atomicvalid(endpoint, scalar_of(what), op_of(what), &count)) == 0;
}

Result<Post> OneSided::atomic(OfiEndpoint& to, const Remote& remote, const Atomic& what,
                              std::uint64_t cookie) {
  if (!has(what)) {
    return fail(Errc::kUnsupported,
                "ofi: " + domain_.provider() +
                    " does not support this atomic operation on this scalar type");
  }
  Operation* const operation = begin(to, cookie);
  if (operation == nullptr) return Post::kRetry;
  *operation->words = {what.operand, what.compare, 0};
  operation->fetches_bytes = kScalarBytes[static_cast<std::size_t>(what.scalar)];
  return began(*operation, post_atomic(*operation, remote, what));
}

// Always a fetching atomic: its answer shows that the target has done it. Non-fetching ones with
// delivery completion corrupt shm's buffers (libfabric 1.17).
long OneSided::post_atomic(Operation& operation, const Remote& remote,
                           const Atomic& what) noexcept {
  fi_ioc operand{&operation.words->operand, 1};
  fi_ioc compare{&operation.words->compare, 1};
  fi_ioc fetched{&operation.words->fetched, 1};
  const fi_rma_ioc there{remote.address, 1, remote.key};
  void* descriptor = words_descriptor_;
  fi_msg_atomic message{};
  message.msg_iov = &operand;  // sockets looks at it even for an atomic read
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = domain_.peers().address(operation.peer);
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.datatype = scalar_of(what);
  message.op = op_of(what);
  message.context = &operation.context;
  if (!compares(what)) {
    return fi_fetch_atomicmsg(domain_.endpoint(), &message, &fetched, &descriptor, 1,
                              FI_COMPLETION);
  }
  return fi_compare_atomicmsg(domain_.endpoint(), &message, &compare, &descriptor, 1, &fetched,
                              &descriptor, 1, FI_COMPLETION);
}

OneSided::Operation* OneSided::begin(OfiEndpoint& peer, std::uint64_t cookie) noexcept {
  if (free_.empty() || !peer.is_open() || domain_.stopped()) return nullptr;
  Operation* const operation = free_.back();
  free_.pop_back();
  operation->owner = &peer;
  operation->peer = peer.peer();
  operation->cookie = cookie;
  operation->fetches_bytes = 0;
  operation->since = 0;
  operation->under_way = true;
  domain_.peers().use(operation->peer);
  if (outstanding_.size() <= operation->peer) outstanding_.resize(operation->peer + 1);
  ++outstanding_[operation->peer];
  return operation;
}

// code: of the call that should have begun it.
Result<Post> OneSided::began(Operation& operation, long code) {
  if (code == 0) return Post::kPosted;
  release(operation);
  if (code == -FI_EAGAIN) return Post::kRetry;
  return fail(Errc::kDown, "ofi: " + domain_.provider() +
                               " does not begin a one-sided operation: " + domain_.explain(code));
}

void OneSided::release(Operation& operation) noexcept {
  --outstanding_[operation.peer];
  domain_.peers().leave(operation.peer);
  operation.owner = nullptr;
  operation.under_way = false;
  free_.push_back(&operation);
}

void OneSided::done(Context& context, long code) noexcept {
  Operation& operation = static_cast<Operation&>(context);
  OfiEndpoint* const owner = operation.owner;
  const std::uint64_t cookie = operation.cookie;
  std::uint64_t fetched = 0;
  if (code == 0) std::memcpy(&fetched, &operation.words->fetched, operation.fetches_bytes);
  release(operation);
  if (code == 0) return sink_.on_done(cookie, {}, fetched);
  const Error why{Errc::kDown, "ofi: a one-sided operation failed: " + domain_.explain(code)};
  if (owner != nullptr) owner->take_down(why);
  sink_.on_done(cookie, tl::unexpected(why), 0);
}

void OneSided::disown(const OfiEndpoint& endpoint) noexcept {
  for (Operation& operation : operations_) {
    if (operation.owner != &endpoint) continue;
    operation.owner = nullptr;
    operation.since = 0;
  }
}

bool OneSided::look(TimeNs now) noexcept {
  bool forgotten = false;
  for (Operation& operation : operations_) {
    if (!operation.under_way) continue;
    if (operation.since == 0) operation.since = now;
    const TimeNs waited = now - operation.since;
    if (operation.owner == nullptr) {
      forgotten = forgotten || waited >= kForgottenAfter;
    } else if (waited >= kOperationTime) {
      operation.owner->take_down({Errc::kDown, "ofi: a one-sided operation was not answered"});
    }
  }
  return forgotten;
}

void OneSided::end() noexcept {
  const Error why{Errc::kDown, "ofi: " + domain_.provider() + " was lost"};
  for (Operation& operation : operations_) {
    if (!operation.under_way) continue;
    release(operation);
    sink_.on_done(operation.cookie, tl::unexpected(why), 0);
  }
}

std::uint32_t OneSided::outstanding(const OfiEndpoint& to) const noexcept {
  return to.peer() < outstanding_.size() ? outstanding_[to.peer()] : 0;
}

}  // namespace livebtl::ofi
