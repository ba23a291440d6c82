// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/reads.cc -- reads from others' memory (see fabric.h). Under the fabric's lock.
#include <algorithm>
#include <cstring>

#include "tests/fake_verbs/fabric.h"

namespace livebtl::fake_verbs {

// Checks a read just posted: into our own memory, and no more at once than the pair can do.
void Fabric::check_read(const Pair& pair) {
  if (pair.sends.back().opcode != IBV_WR_RDMA_READ) return;
  const auto reads = std::count_if(pair.sends.begin(), pair.sends.end(), [](const Work& work) {
    return work.opcode == IBV_WR_RDMA_READ;
  });
  if (reads > pair.attributes.max_rd_atomic) ++faults_.reads_ahead;
  if (!registered(pair.sends.back().piece)) ++faults_.wild;
}

const Region* Fabric::readable(const Pair& of, const Work& work) const {
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const Region* region) {
    const auto begin = reinterpret_cast<std::uint64_t>(region->addr);
    return region->rkey == work.remote_key && region->pd == of.pd &&
           (region->access & IBV_ACCESS_REMOTE_READ) != 0 && work.remote_address >= begin &&
           work.remote_address + work.piece.length <= begin + region->length;
  });
  const bool may = (of.attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  return may && found != regions_.end() ? *found : nullptr;
}

/// bytes: how many of the piece arrive.
ibv_wc_status Fabric::read(const Pair& from, Pair& to, const Work& work, std::size_t bytes) {
  if (readable(to, work) == nullptr) {
    break_pair(to);
    tell(*to.adapter, IBV_EVENT_QP_ACCESS_ERR, &to);
    return IBV_WC_REM_ACCESS_ERR;
  }
  const auto local = std::find_if(regions_.begin(), regions_.end(), [&](const Region* region) {
    return region->lkey == work.piece.lkey && region->pd == from.pd &&
           (region->access & IBV_ACCESS_LOCAL_WRITE) != 0;
  });
  if (local == regions_.end()) return IBV_WC_LOC_PROT_ERR;  // deregistered since it was posted
  auto* into = reinterpret_cast<std::byte*>(work.piece.addr);
  std::memcpy(into, reinterpret_cast<const std::byte*>(work.remote_address), bytes);
  bytes_read_ += bytes;
  if (std::exchange(flip_read_, false)) into[bytes / 2] ^= std::byte{1};
  return IBV_WC_SUCCESS;
}

}  // namespace livebtl::fake_verbs
