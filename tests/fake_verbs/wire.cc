// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/wire.cc -- what the fake fabric does with a send (see fabric.h). Under the
// fabric's lock.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "tests/fake_verbs/fabric.h"

namespace livebtl::fake_verbs {

template <class Object>
bool Fabric::forget(std::set<Object*>& all, void* object) {
  auto* known = static_cast<Object*>(object);
  if (all.erase(known) == 0) {
    ++faults_.unknown;
    return false;
  }
  delete known;
  return true;
}
template bool Fabric::forget(std::set<Context*>&, void*);
template bool Fabric::forget(std::set<Domain*>&, void*);
template bool Fabric::forget(std::set<Region*>&, void*);
template bool Fabric::forget(std::set<Channel*>&, void*);
template bool Fabric::forget(std::set<Queue*>&, void*);
template bool Fabric::forget(std::set<SharedQueue*>&, void*);
template bool Fabric::forget(std::set<Pair*>&, void*);

Faults Fabric::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::size_t Fabric::alive() const {
  const std::lock_guard lock(mutex_);
  return contexts_.size() + domains_.size() + regions_.size() + channels_.size() + queues_.size() +
         shared_.size() + pairs_.size();
}

std::size_t Fabric::bytes_read() const {
  const std::lock_guard lock(mutex_);
  return bytes_read_;
}

std::size_t Fabric::exposed() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      regions_.begin(), regions_.end(),
      [](const Region* region) { return (region->access & IBV_ACCESS_REMOTE_READ) != 0; }));
}

std::vector<std::uint32_t> Fabric::pairs() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> numbers;
  for (const Pair* pair : pairs_) numbers.push_back(pair->qp_num);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool Fabric::registered(const ibv_sge& piece) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region* region) {
    const auto begin = reinterpret_cast<std::uint64_t>(region->addr);
    return region->lkey == piece.lkey && piece.addr >= begin &&
           piece.addr + piece.length <= begin + region->length;
  });
}

Adapter* Fabric::adapter_at(const ibv_ah_attr& route) {
  const auto found = std::find_if(adapters_.begin(), adapters_.end(), [&](const Adapter* adapter) {
    if (adapter->lid != route.dlid) return false;
    if (route.is_global == 0) return true;
    return std::any_of(adapter->gids.begin(), adapter->gids.end(), [&](const GidEntry& entry) {
      return std::memcmp(entry.gid.data(), route.grh.dgid.raw, entry.gid.size()) == 0;
    });
  });
  return found == adapters_.end() ? nullptr : *found;
}

Pair* Fabric::other_end(const Pair& pair) {
  const Adapter* adapter = adapter_at(pair.attributes.ah_attr);
  const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair* each) {
    return each->qp_num == pair.attributes.dest_qp_num && each->adapter == adapter;
  });
  return found == pairs_.end() ? nullptr : *found;
}

void Fabric::push(ibv_cq* queue, const ibv_wc& done) {
  auto& known = *static_cast<Queue*>(queue);
  if (known.done.size() >= static_cast<std::size_t>(known.cqe)) ++faults_.overruns;
  known.done.push_back(done);
  if (!std::exchange(known.armed, false)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written =
      ::write(known.channel_events->event.number(), &one, sizeof one);
}

void Fabric::complete(Pair& pair, std::uint64_t id, ibv_wc_status status) {
  ibv_wc done{};
  done.wr_id = id;
  done.status = status;
  done.opcode = IBV_WC_SEND;
  done.qp_num = pair.qp_num;
  push(pair.send_cq, done);
}

void Fabric::break_pair(Pair& pair) {
  pair.state = IBV_QPS_ERR;
  std::ranges::move(std::exchange(pair.untold, {}), std::back_inserter(pair.sends));
  for (; !pair.sends.empty(); pair.sends.pop_front())
    complete(pair, pair.sends.front().id, IBV_WC_WR_FLUSH_ERR);
}

/// A write of no bytes, the only kind ever made.
ibv_wc_status Fabric::write_nothing(const Pair& to, const Work& work) {
  const bool may = (to.attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  return may && !work.has_piece ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
}

ibv_wc_status Fabric::deliver(const Pair& from, Pair& to, const Work& work) {
  if (work.opcode == IBV_WR_RDMA_WRITE) return write_nothing(to, work);
  if (work.opcode == IBV_WR_RDMA_READ) return read(from, to, work, work.piece.length);
  if (!work.is_inline && !registered(work.piece)) {
    ++faults_.wild;
    return IBV_WC_LOC_PROT_ERR;
  }
  auto& receives = static_cast<SharedQueue*>(to.srq)->receives;
  if (receives.empty()) {
    ++faults_.not_ready;
    return IBV_WC_RNR_RETRY_EXC_ERR;
  }
  const Receive receive = receives.front();
  receives.pop_front();
  if (!registered(receive.piece) || work.piece.length > receive.piece.length) ++faults_.wild;
  auto* into = reinterpret_cast<std::byte*>(receive.piece.addr);
  const auto* out =
      work.is_inline ? work.copy.data() : reinterpret_cast<const std::byte*>(work.piece.addr);
  std::memcpy(into, out, work.piece.length);
  if (std::exchange(flip_, false)) into[work.piece.length - 1] ^= std::byte{1};
  ibv_wc done{};
  done.wr_id = receive.id;
  done.opcode = IBV_WC_RECV;
  done.byte_len = work.piece.length;
  done.qp_num = to.qp_num;
  done.src_qp = from.qp_num;
  push(to.recv_cq, done);
  return IBV_WC_SUCCESS;
}

namespace {

bool take_first(std::vector<ibv_wc_status>& failures, ibv_wc_status& status) {
  if (failures.empty()) return false;
  status = failures.front();
  failures.erase(failures.begin());
  return true;
}

}  // namespace

// false: no result yet, as with a packet that is sent again and again.
bool Fabric::carry_out_one(Pair& pair, const Work& work, ibv_wc_status& status) {
  Adapter& adapter = *pair.adapter;
  const bool reads = work.opcode == IBV_WR_RDMA_READ;
  if (reads && reads_stand_still) return false;
  if (reads && take_first(adapter.read_failures, status)) {
    if (Pair* other = other_end(pair)) read(pair, *other, work, work.piece.length / 2);
    return true;
  }
  if (take_first(adapter.failures, status)) return true;
  status = IBV_WC_LOC_QP_OP_ERR;
  if (adapter.lost_error != 0) return true;
  status = IBV_WC_RETRY_EXC_ERR;
  if (adapter.port_state != IBV_PORT_ACTIVE) return true;
  const Adapter* there = adapter_at(pair.attributes.ah_attr);
  if (adapter.mute || (there != nullptr && there->mute)) return false;
  Pair* other = other_end(pair);
  if (other == nullptr || there->lost_error != 0 || there->port_state != IBV_PORT_ACTIVE)
    return true;
  if (other->state == IBV_QPS_INIT) return false;
  const bool fits = other->attributes.dest_qp_num == pair.qp_num &&
                    other->attributes.rq_psn == pair.attributes.sq_psn &&
                    other->attributes.path_mtu == pair.attributes.path_mtu;
  if (!fits || (other->state != IBV_QPS_RTR && other->state != IBV_QPS_RTS)) return true;
  status = deliver(pair, *other, work);
  return true;
}

// Sends do not wait for an earlier read, but are reported after it.
void Fabric::carry_out(Pair& pair, std::size_t count_max) {
  if (std::ranges::find(unanswered, pair.qp_num) != unanswered.end()) return;
  std::size_t at = 0;
  while (at < std::min(count_max, pair.sends.size()) && pair.state == IBV_QPS_RTS) {
    Work& work = pair.sends[at];
    ibv_wc_status status = IBV_WC_SUCCESS;
    if (!work.carried_out && !carry_out_one(pair, work, status)) {
      if (work.opcode != IBV_WR_RDMA_READ) return;
      ++at;
      continue;
    }
    if (status != IBV_WC_SUCCESS) {
      const std::uint64_t id = work.id;
      pair.sends.erase(pair.sends.begin() + static_cast<std::ptrdiff_t>(at));
      complete(pair, id, status);
      return break_pair(pair);
    }
    work.carried_out = true;
    if (at != 0) {
      ++at;
      continue;
    }
    complete(pair, work.id, status);
    pair.sends.pop_front();
    --count_max;
  }
}

}  // namespace livebtl::fake_verbs
