// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_memory.cc -- a domain's use of memory: registration, reads and writes of a
// peer's memory, and the end of both (see ofi_domain.h).
#include <rdma/fi_rma.h>

#include "base/secret.h"
#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {
namespace {

constexpr int kKeyTries = 8;
/// A running peer answers a read of 512 KiB sooner.
constexpr TimeNs kReadsEndTime = 200 * kMillisecond;

/// A transfer in libfabric's terms.
struct Rma {
  Rma(const Transfer& transfer, fi_addr_t address, Context& context) noexcept
      : here{transfer.here.data(), transfer.here.size()},
        there{transfer.there.address, transfer.here.size(), transfer.there.key},
        descriptor(transfer.descriptor) {
    message.msg_iov = &here;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = address;
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = &context.context;
  }
  Rma(const Rma&) = delete;
  Rma& operator=(const Rma&) = delete;

  iovec here;
  fi_rma_iov there;
  void* descriptor;
  fi_msg_rma message{};
};

}  // namespace

Result<Registration> Domain::register_memory(MutableBytes memory, std::uint64_t access) {
  if (stopped()) return tl::unexpected(cannot("registration of memory", -FI_ESHUTDOWN).error());
  fid_mr* region = nullptr;
  int code = -FI_ENOKEY;
  // A key that we chose may be in use already.
  for (int tries = 0; code == -FI_ENOKEY && tries < kKeyTries; ++tries) {
    code = fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, new_key(), 0, &region,
                     nullptr);
  }
  Registration made(region);
  if (code == 0) return made;
  return tl::unexpected(cannot("registration of memory (is `ulimit -l` too low?)", code).error());
}

// Random, as the key is all that a stranger on the network would have to know; as long as the
// provider allows.
std::uint64_t Domain::new_key() const noexcept {
  if (has_mode(FI_MR_PROV_KEY)) return 0;  // the provider makes it
  const std::size_t bytes = info_->domain_attr->mr_key_size;
  const std::uint64_t key = random_u64();
  return bytes >= sizeof key ? key : key & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

long Domain::begin_read(const Transfer& transfer, Context& context) noexcept {
  if (stopped()) return -FI_ESHUTDOWN;
  const Rma rma(transfer, peers_->address(transfer.peer), context);
  const long code = fi_readmsg(endpoint_.get(), &rma.message, FI_COMPLETION);
  context.reads = code == 0;
  if (code == 0) ++reads_;
  return code;
}

long Domain::begin_write(const Transfer& transfer, Context& context) noexcept {
  if (stopped()) return -FI_ESHUTDOWN;
  const Rma rma(transfer, peers_->address(transfer.peer), context);
  return fi_writemsg(endpoint_.get(), &rma.message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

// tcp;ofi_rxm (libfabric 1.17) frees a half-finished read twice when its connection is closed. If
// the read does not finish because its peer is stopped, that part of libfabric is left open for
// good: it makes progress only in our calls, so it touches no memory then either.
void Domain::stop() noexcept {
  if (std::exchange(stopped_, true)) return;
  wait_for_reads();
  if (reads_ == 0 || !provider().starts_with("tcp")) endpoint_.close();
}

// Other completions are dropped: everything ends anyway.
void Domain::wait_for_reads() noexcept {
  const TimeNs until = monotonic_now() + kReadsEndTime;
  while (reads_ != 0 && monotonic_now() < until) {
    std::array<fi_cq_msg_entry, 16> entries;
    fi_cq_err_entry error;
    const long count = read(entries);
    if (count < 0 && (count != -FI_EAVAIL || !read_error(error))) return;
  }
}

void Domain::note_end(void* context, std::uint64_t flags) noexcept {
  if (context == nullptr || is_a_peers(flags)) return;
  if (std::exchange(static_cast<Context*>(context)->reads, false)) --reads_;
}

}  // namespace livebtl::ofi
