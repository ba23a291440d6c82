// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/pairs.cc -- queue pairs of the fake fabric: their states, what is posted and
// what is read from their queues (see fabric.h).
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/fake_verbs/fabric.h"

namespace livebtl::fake_verbs {
namespace {

constexpr std::size_t kSendsPerLook = 3;

bool take_one(const Fd& event) {
  std::uint64_t one = 0;
  return ::read(event.number(), &one, sizeof one) == sizeof one;
}

/// What ibv_modify_qp(3) requires, by the state to change to.
int mask_for(ibv_qp_state state) {
  if (state == IBV_QPS_INIT)
    return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  if (state == IBV_QPS_RTR)
    return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (state == IBV_QPS_RTS)
    return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
           IBV_QP_MAX_QP_RD_ATOMIC;
  return IBV_QP_STATE;
}

/// InfiniBand's first hop is a LID, with a global route header or without; RoCE has none.
bool has_way(const Adapter& adapter, const ibv_ah_attr& route) {
  if (adapter.link_layer == IBV_LINK_LAYER_ETHERNET) return route.is_global != 0;
  return route.dlid != 0 && (route.is_global != 0 || !adapter.grh_required);
}

bool follows(ibv_qp_state from, ibv_qp_state to) {
  return to == IBV_QPS_ERR || (from == IBV_QPS_RESET && to == IBV_QPS_INIT) ||
         (from == IBV_QPS_INIT && to == IBV_QPS_RTR) || (from == IBV_QPS_RTR && to == IBV_QPS_RTS);
}

/// Keeps what each step sets.
void keep(ibv_qp_attr& kept, const ibv_qp_attr& given) {
  if (given.qp_state == IBV_QPS_INIT) kept.qp_access_flags = given.qp_access_flags;
  if (given.qp_state == IBV_QPS_RTR) {
    kept.max_dest_rd_atomic = given.max_dest_rd_atomic;
    kept.ah_attr = given.ah_attr;
    kept.dest_qp_num = given.dest_qp_num;
    kept.rq_psn = given.rq_psn;
    kept.path_mtu = given.path_mtu;
  }
  if (given.qp_state == IBV_QPS_RTS) {
    kept.sq_psn = given.sq_psn;
    kept.max_rd_atomic = given.max_rd_atomic;
    kept.retry_cnt = given.retry_cnt;
    kept.rnr_retry = given.rnr_retry;
    kept.timeout = given.timeout;
  }
}

Work work_of(const ibv_send_wr& posted) {
  Work work;
  work.id = posted.wr_id;
  work.opcode = posted.opcode;
  if (posted.opcode == IBV_WR_RDMA_READ) {
    work.remote_address = posted.wr.rdma.remote_addr;
    work.remote_key = posted.wr.rdma.rkey;
  }
  work.has_piece = posted.num_sge != 0;
  work.is_inline = (posted.send_flags & IBV_SEND_INLINE) != 0;
  if (work.has_piece) work.piece = posted.sg_list[0];
  if (work.is_inline) {
    const auto* begin = reinterpret_cast<const std::byte*>(work.piece.addr);
    work.copy.assign(begin, begin + work.piece.length);
  }
  return work;
}

}  // namespace

ibv_qp* Machine::create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) {
  const std::lock_guard lock(fabric_.mutex_);
  auto* context = static_cast<Context*>(domain->context);
  Adapter& adapter = *context->adapter;
  if (context->dead != 0 || attributes->cap.max_inline_data > adapter.max_inline) {
    errno = context->dead != 0 ? context->dead : EINVAL;
    return nullptr;
  }
  auto* pair = new Pair{};
  pair->adapter = &adapter;
  pair->context = context;
  pair->pd = domain;
  pair->send_cq = attributes->send_cq;
  pair->recv_cq = attributes->recv_cq;
  pair->srq = attributes->srq;
  pair->qp_num = fabric_.next_number_++;
  pair->state = IBV_QPS_RESET;
  pair->depth = attributes->cap.max_send_wr;
  pair->inline_max = attributes->cap.max_inline_data;
  fabric_.pairs_.insert(pair);
  return pair;
}

/// How long, at least, a peer may leave a packet unanswered. Soft-RoCE between emulated machines
/// took half a second now and then: a shorter time gave up on healthy peers.
static double retry_seconds(const ibv_qp_attr& attributes) {
  return 4.096e-6 * static_cast<double>(1U << attributes.timeout) * (attributes.retry_cnt + 1);
}

int Machine::modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<Pair*>(pair);
  const ibv_qp_state to = attributes->qp_state;
  if (static_cast<Context*>(pair->context)->dead != 0) return EIO;
  if (!follows(known.state, to) || mask != mask_for(to)) return EINVAL;
  // 7 means for ever on some devices.
  if (to == IBV_QPS_RTS && (attributes->retry_cnt > 6 || attributes->rnr_retry > 6)) return EINVAL;
  if (to == IBV_QPS_RTS && retry_seconds(*attributes) < 1.5) return EINVAL;
  if (to == IBV_QPS_RTR && !has_way(*known.adapter, attributes->ah_attr)) return EINVAL;
  keep(known.attributes, *attributes);
  known.state = to;
  if (to == IBV_QPS_ERR) fabric_.break_pair(known);
  return 0;
}

// As with some drivers, the pair's unread completions go with it, and so do its messages' buffers;
// with `lag`, as with others, they stay.
int Machine::destroy_qp(ibv_qp* pair) {
  const std::lock_guard lock(fabric_.mutex_);
  if (!fabric_.lag) {
    std::erase_if(static_cast<Queue*>(pair->recv_cq)->done,
                  [&](const ibv_wc& done) { return done.qp_num == pair->qp_num; });
  }
  // Its unread events are forgotten with it.
  std::erase_if(static_cast<Context*>(pair->context)->events, [&](const ibv_async_event& event) {
    const bool of_pairs =
        event.event_type == IBV_EVENT_QP_FATAL || event.event_type == IBV_EVENT_QP_ACCESS_ERR;
    return of_pairs && event.element.qp == pair;
  });
  return fabric_.forget(fabric_.pairs_, static_cast<Pair*>(pair)) ? 0 : EINVAL;
}

verbs::Posted Machine::post_send(ibv_qp* pair, ibv_send_wr* work) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<Pair*>(pair);
  if (static_cast<Context*>(pair->context)->dead != 0) return {false, EIO};
  if (known.state != IBV_QPS_RTS && known.state != IBV_QPS_ERR) return {false, EINVAL};
  const bool is_inline = (work->send_flags & IBV_SEND_INLINE) != 0;
  if (is_inline && work->sg_list[0].length > known.inline_max) return {false, EINVAL};
  if (known.outstanding >= known.depth) {
    ++fabric_.faults_.overruns;
    return {false, ENOMEM};
  }
  ++known.outstanding;
  if (known.adapter->bell_refused) {
    known.untold.push_back(work_of(*work));
    return {true, EACCES};
  }
  fabric_.take(known, work_of(*work));
  return {};
}

int Machine::ring(ibv_qp* pair) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<Pair*>(pair);
  if (static_cast<Context*>(pair->context)->dead != 0) return EIO;
  if (known.adapter->ring_error != 0) return known.adapter->ring_error;
  for (const Work& work : std::exchange(known.untold, {})) fabric_.take(known, work);
  return 0;
}

void Fabric::take(Pair& pair, const Work& work) {
  pair.sends.push_back(work);
  check_read(pair);
  if (pair.state == IBV_QPS_ERR)
    break_pair(pair);
  else if (!lag)
    carry_out(pair, SIZE_MAX);
}

int Machine::post_srq_recv(ibv_srq* queue, ibv_recv_wr* work) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<SharedQueue*>(queue);
  if (static_cast<Context*>(queue->context)->dead != 0) return EIO;
  if (known.receives.size() >= known.max) {
    ++fabric_.faults_.overruns;
    return ENOMEM;
  }
  if (!fabric_.registered(work->sg_list[0])) ++fabric_.faults_.wild;
  known.receives.push_back({work->wr_id, work->sg_list[0]});
  return 0;
}

int Machine::poll_cq(ibv_cq* queue, int count_max, ibv_wc* done) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<Queue*>(queue);
  if (static_cast<Context*>(queue->context)->dead != 0) return -1;
  for (Pair* pair : fabric_.pairs_) {
    if (pair->send_cq == queue) fabric_.carry_out(*pair, kSendsPerLook);
  }
  int count = 0;
  for (; count < count_max && !known.done.empty(); ++count) {
    done[count] = known.done.front();
    known.done.pop_front();
    if ((done[count].opcode & IBV_WC_RECV) != 0) continue;
    for (Pair* pair : fabric_.pairs_) {
      if (pair->qp_num == done[count].qp_num) --pair->outstanding;
    }
  }
  return count;
}

int Machine::req_notify_cq(ibv_cq* queue) {
  const std::lock_guard lock(fabric_.mutex_);
  static_cast<Queue*>(queue)->armed = true;
  return 0;
}

int Machine::take_cq_event(ibv_comp_channel* channel) {
  return take_one(static_cast<Channel*>(channel)->event) ? 0 : -1;
}

int Machine::get_async_event(ibv_context* context, ibv_async_event* event) {
  const std::lock_guard lock(fabric_.mutex_);
  auto& known = *static_cast<Context*>(context);
  if (!take_one(known.async) || known.events.empty()) return -1;
  *event = known.events.front();
  known.events.pop_front();
  ++known.unacknowledged;
  return 0;
}

void Machine::ack_async_event(ibv_async_event*) {
  const std::lock_guard lock(fabric_.mutex_);
  for (Context* context : fabric_.contexts_) {
    if (context->unacknowledged != 0) return void(--context->unacknowledged);
  }
}

}  // namespace livebtl::fake_verbs
