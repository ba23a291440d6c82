// SPDX-License-Identifier: BSD-3-Clause
// provider/tagged.cc -- fi_tsend, fi_trecv and their kin: messages matched by tag; peek, claim and
// discard.
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

SendRequest tagged(Tag tag) noexcept {
  SendRequest request;
  request.tag = tag;
  return request;
}
SendRequest tagged(Tag tag, std::uint64_t data) noexcept {
  SendRequest request = tagged(tag);
  request.has_data = true;
  request.data = data;
  return request;
}
ReceiveRequest matching(Tag tag, std::uint64_t ignore) noexcept {
  ReceiveRequest request;
  request.tag = tag;
  request.ignore = ignore;
  return request;
}
/// A default FI_MULTI_RECV applies to plain messages: no tagged buffer takes several.
Start receives(fid_ep* ep, void* context) noexcept {
  const std::uint64_t flags = Endpoint::of(ep).default_receive() & ~std::uint64_t{FI_MULTI_RECV};
  return {context, flags, FI_TAGGED | FI_RECV};
}
Start sends(fid_ep* ep, void* context) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), FI_TAGGED | FI_SEND};
}

ssize_t receive(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, uint64_t tag,
                uint64_t ignore, void* context) {
  return start(&Endpoint::receive, ep, Targets(buffer, bytes), matching(tag, ignore), from,
               receives(ep, context));
}

ssize_t receive_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t tag,
                  uint64_t ignore, void* context) {
  return start(&Endpoint::receive, ep, Targets(iov, count), matching(tag, ignore), from,
               receives(ep, context));
}

ssize_t receive_msg(fid_ep* ep, const fi_msg_tagged* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(msg->msg_iov, msg->iov_count);
  if (!targets.good()) return -FI_EINVAL;
  const Start how = {msg->context, endpoint.with_receive(flags), FI_TAGGED | FI_RECV};
  ReceiveRequest request = matching(msg->tag, msg->ignore);
  request.slices = targets.span();
  if (flags & FI_PEEK) return endpoint.peek(request, msg->addr, how);
  if (flags & FI_CLAIM) return endpoint.receive_claimed(targets.span(), how);
  if (flags & (FI_DISCARD | FI_MULTI_RECV)) return -FI_EBADFLAGS;
  return endpoint.receive(request, msg->addr, how);
}

ssize_t send(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, uint64_t tag,
             void* context) {
  return start(&Endpoint::send, ep, Sources(buffer, bytes), tagged(tag), to, sends(ep, context));
}

ssize_t send_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t tag,
               void* context) {
  return start(&Endpoint::send, ep, Sources(iov, count), tagged(tag), to, sends(ep, context));
}

ssize_t send_msg(fid_ep* ep, const fi_msg_tagged* msg, uint64_t flags) {
  return start(&Endpoint::send, ep, Sources(msg->msg_iov, msg->iov_count),
               flags & FI_REMOTE_CQ_DATA ? tagged(msg->tag, msg->data) : tagged(msg->tag),
               msg->addr,
               {msg->context, Endpoint::of(ep).with_transmit(flags), FI_TAGGED | FI_SEND});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to, uint64_t tag) {
  return start(&Endpoint::inject, ep, Sources(buffer, bytes), tagged(tag), to);
}

ssize_t send_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                  uint64_t tag, void* context) {
  return start(&Endpoint::send, ep, Sources(buffer, bytes), tagged(tag, data), to,
               sends(ep, context));
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to,
                    uint64_t tag) {
  return start(&Endpoint::inject, ep, Sources(buffer, bytes), tagged(tag, data), to);
}

}  // namespace

fi_ops_tagged tagged_ops = {
    .size = sizeof(fi_ops_tagged),
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
