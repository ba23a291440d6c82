// SPDX-License-Identifier: BSD-3-Clause
// provider/msg.cc -- fi_send, fi_recv and their kin: plain messages, matched in order of arrival.
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

SendRequest plain() noexcept {
  SendRequest request;
  request.kind = MessageKind::kPlain;
  return request;
}
SendRequest plain(std::uint64_t data) noexcept {
  SendRequest request = plain();
  request.has_data = true;
  request.data = data;
  return request;
}
ReceiveRequest any_plain() noexcept {
  ReceiveRequest request;
  request.kind = MessageKind::kPlain;
  request.ignore = ~Tag{0};
  return request;
}
Start receives(fid_ep* ep, void* context) noexcept {
  return {context, Endpoint::of(ep).default_receive(), FI_MSG | FI_RECV};
}
Start sends(fid_ep* ep, void* context) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), FI_MSG | FI_SEND};
}

ssize_t receive(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, void* context) {
  return start(&Endpoint::receive, ep, Targets(buffer, bytes), any_plain(), from,
               receives(ep, context));
}

ssize_t receive_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from,
                  void* context) {
  return start(&Endpoint::receive, ep, Targets(iov, count), any_plain(), from,
               receives(ep, context));
}

ssize_t receive_msg(fid_ep* ep, const fi_msg* msg, uint64_t flags) {
  if (flags & (FI_PEEK | FI_CLAIM | FI_DISCARD)) return -FI_EINVAL;
  return start(&Endpoint::receive, ep, Targets(msg->msg_iov, msg->iov_count), any_plain(),
               msg->addr, {msg->context, Endpoint::of(ep).with_receive(flags), FI_MSG | FI_RECV});
}

ssize_t send(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, void* context) {
  return start(&Endpoint::send, ep, Sources(buffer, bytes), plain(), to, sends(ep, context));
}

ssize_t send_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, void* context) {
  return start(&Endpoint::send, ep, Sources(iov, count), plain(), to, sends(ep, context));
}

ssize_t send_msg(fid_ep* ep, const fi_msg* msg, uint64_t flags) {
  return start(&Endpoint::send, ep, Sources(msg->msg_iov, msg->iov_count),
               flags & FI_REMOTE_CQ_DATA ? plain(msg->data) : plain(), msg->addr,
               {msg->context, Endpoint::of(ep).with_transmit(flags), FI_MSG | FI_SEND});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to) {
  return start(&Endpoint::inject, ep, Sources(buffer, bytes), plain(), to);
}

ssize_t send_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                  void* context) {
  return start(&Endpoint::send, ep, Sources(buffer, bytes), plain(data), to, sends(ep, context));
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to) {
  return start(&Endpoint::inject, ep, Sources(buffer, bytes), plain(data), to);
}

}  // namespace

fi_ops_msg message_ops = {
    .size = sizeof(fi_ops_msg),
    .recv = receive,
    .recvv = receive_v,
    .recvmsg = receive_msg,
    .send = send,
    .sendv = send_v,
    .sendmsg = send_msg,
    .inject = inject,
    .senddata = send_data,
    .injectdata = inject_data,
};

}  // namespace livebtl::fi
