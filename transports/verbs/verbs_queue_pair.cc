// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_queue_pair.cc -- see verbs_queue_pair.h.
#include "transports/verbs/verbs_queue_pair.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "transports/verbs/verbs_errors.h"

namespace livebtl::verbs {
namespace {

constexpr std::uint32_t kFrameSends = 64;
constexpr std::uint32_t kControls = 3;  // a grant of credit, a probe, BYE
constexpr std::uint32_t kReads = 1;     // more would hold up the frames after them
constexpr std::uint32_t kSendDepth = kFrameSends + messages::kExposedMax + kControls + kReads;
constexpr std::uint32_t kInlineMax = 256;

// An unanswered packet is sent again after 268 ms (4.096 us * 2^16; devices may take up to four
// times as long), six times: two to seven seconds until a peer counts as gone, about as long as a
// probe over tcp takes. A lost packet costs that much time only if no other follows it, while an
// answer that is merely late, as from a machine that is shared or being migrated, costs a
// retransmission each time, and in the end the path. 7 would mean for ever on some devices.
constexpr std::uint8_t kAckTimeout = 16;
constexpr std::uint8_t kRetries = 6;
// Credits ensure that a buffer is there; if none is, that is our mistake, and must end.
constexpr std::uint8_t kNotReadyRetries = 6;
constexpr std::uint8_t kNotReadyTimer = 12;  // 0.64 ms
constexpr std::uint8_t kHopsMax = 64;

ibv_qp_init_attr wanted(Device& device, std::uint32_t inline_bytes) noexcept {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = device.completions();
  attributes.recv_cq = device.completions();
  attributes.srq = device.receives();
  attributes.cap.max_send_wr = kSendDepth;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_inline_data = inline_bytes;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  return attributes;
}

ibv_ah_attr route(const PortState& own, std::uint8_t port, const PortAddress& peer) noexcept {
  ibv_ah_attr attributes{};
  attributes.port_num = port;
  attributes.dlid = peer.lid;
  if (own.global_route) {
    attributes.is_global = 1;
    std::memcpy(attributes.grh.dgid.raw, peer.gid.data(), peer.gid.size());
    attributes.grh.sgid_index = static_cast<std::uint8_t>(own.gid_index);
    attributes.grh.hop_limit = kHopsMax;
  }
  return attributes;
}

}  // namespace

QueuePair::QueuePair(Device& device, ibv_qp* pair, std::uint32_t first_packet,
                     std::uint32_t inline_bytes) noexcept
    : device_(device), pair_(pair), first_packet_(first_packet), inline_bytes_(inline_bytes) {}

Result<std::unique_ptr<QueuePair>> QueuePair::make(Device& device, std::uint32_t first_packet) {
  // Devices do not say beforehand how much they take inline.
  for (std::uint32_t inline_bytes = kInlineMax;; inline_bytes /= 2) {
    ibv_qp_init_attr attributes = wanted(device, inline_bytes);
    ibv_qp* const pair = device.calls().create_qp(device.domain(), &attributes);
    if (pair == nullptr) {
      if (inline_bytes != 0 && errno == EINVAL) continue;
      return tl::unexpected(cannot_make("a queue pair", errno));
    }
    std::unique_ptr<QueuePair> made(new QueuePair(
        device, pair, first_packet, std::min(kInlineMax, attributes.cap.max_inline_data)));
    if (const Status ready = made->become_ready(); !ready) return tl::unexpected(ready.error());
    return made;
  }
}

QueuePair::~QueuePair() {
  device_.calls().destroy_qp(pair_);
  device_.disown(*this);
}

Status QueuePair::become_ready() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port().port;
  // Writes are of zero bytes: send_nothing(). No memory is registered for peers to write to.
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  const int error = device_.calls().modify_qp(
      pair_, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) return tl::unexpected(cannot_make("a queue pair", error));
  return {};
}

int QueuePair::make_receive(const Ticket& peer) {
  const OpenPort& port = device_.port();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(peer.mtu, port.state.mtu));
  attributes.dest_qp_num = peer.queue_pair;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = kReads;
  attributes.min_rnr_timer = kNotReadyTimer;
  attributes.ah_attr = route(port.state, port.port, peer.port);
  return device_.calls().modify_qp(pair_, &attributes,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                       IBV_QP_MIN_RNR_TIMER);
}

int QueuePair::make_send() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = kAckTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kNotReadyRetries;
  attributes.max_rd_atomic = kReads;
  return device_.calls().modify_qp(pair_, &attributes,
                                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

Status QueuePair::connect(const Ticket& peer) {
  int error = make_receive(peer);
  if (error == 0) error = make_send();
  if (error == 0) return {};
  return fail(Errc::kUnreachable, "verbs: " + device_.name() + " cannot be connected to " +
                                      to_text(peer.port.gid) + ": " + errno_text(error) +
                                      "; is there a route to it, and does it answer?");
}

void QueuePair::break_up() noexcept {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  device_.calls().modify_qp(pair_, &attributes, IBV_QP_STATE);
}

bool QueuePair::post(Send& send, ibv_send_wr& work) noexcept {
  work.wr_id = device_.id_of(send);
  work.send_flags |= IBV_SEND_SIGNALED;
  const Posted posted = device_.calls().post_send(pair_, &work);
  if (!posted.taken) {
    device_.end_send(send);
    if (posted.error != ENOMEM) error_ = posted.error;  // ENOMEM: the send queue is full
    return false;
  }
  // A request that the device was not told of is still its own until the pair is broken up.
  if (posted.error != 0 && device_.calls().ring(pair_) != 0) error_ = posted.error;
  ++sends_;
  if (send.use_for == Use::kFrame) ++frames_;
  if (send.use_for == Use::kControl) ++controls_;
  if (send.buffer >= 0) ++buffers_;
  return true;
}

// encode: writes that many bytes.
template <class Encode>
bool QueuePair::send_message(Use use, std::size_t bytes, Encode encode) noexcept {
  const bool is_inline = bytes <= inline_bytes_;
  if (!is_inline && use != Use::kControl && buffers_ >= device_.buffers_each()) return false;
  Send* const send = device_.begin_send(*this, use, !is_inline);
  if (send == nullptr) return false;
  std::array<std::byte, kInlineMax> small;
  std::byte* const to = is_inline ? small.data() : device_.send_buffer(*send);
  encode(to);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(to), static_cast<std::uint32_t>(bytes),
                is_inline ? 0 : device_.send_key(*send)};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND;
  work.send_flags = is_inline ? IBV_SEND_INLINE : 0;
  return post(*send, work);
}

bool QueuePair::send_frame(const core::Frame& frame, std::uint32_t granted,
                           bool payload_crc) noexcept {
  if (frames_ >= std::min(kFrameSends, device_.frames_each()) || error_ != 0) return false;
  const std::size_t bytes = sizeof(messages::Head) + frame.header.size() + frame.payload.size();
  return send_message(Use::kFrame, bytes, [&](std::byte* to) {
    const std::size_t begin = messages::encode_frame(frame, granted, payload_crc, to);
    if (!frame.payload.empty()) copy_bytes(to + begin, frame.payload.data(), frame.payload.size());
  });
}

bool QueuePair::send_exposed(Bytes header, const RemoteBuffer& remote,
                             std::uint32_t granted) noexcept {
  if (error_ != 0) return false;
  const std::size_t bytes = sizeof(messages::Head) + header.size() + sizeof remote;
  return send_message(Use::kExposed, bytes, [&](std::byte* to) {
    messages::encode_exposed(header, bytes_of(remote), granted, to);
  });
}

bool QueuePair::send_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept {
  if (error_ != 0 || controls() >= (kind == Kind::kBye ? kControls : 1)) return false;
  return send_message(Use::kControl, sizeof(messages::Head),
                      [&](std::byte* to) { messages::encode_control(kind, granted, read, to); });
}

bool QueuePair::send_nothing() noexcept {
  if (error_ != 0 || sends_ != 0) return false;
  Send* const send = device_.begin_send(*this, Use::kControl, false);
  if (send == nullptr) return false;
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_WRITE;
  return post(*send, work);
}

bool QueuePair::read(const ibv_sge& to, std::uint64_t from, std::uint32_t key) noexcept {
  if (error_ != 0) return false;
  Send* const send = device_.begin_send(*this, Use::kRead, false);
  if (send == nullptr) return false;
  ibv_sge piece = to;
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_READ;
  work.wr.rdma.remote_addr = from;
  work.wr.rdma.rkey = key;
  return post(*send, work);
}

void QueuePair::completed(const Send& send) noexcept {
  --sends_;
  if (send.use_for == Use::kFrame) --frames_;
  if (send.use_for == Use::kControl) --controls_;
  if (send.buffer >= 0) --buffers_;
}

}  // namespace livebtl::verbs
