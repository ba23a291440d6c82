// SPDX-License-Identifier: BSD-3-Clause
// provider/tagged.cc -- fi_tsend, fi_trecv and their kin: messages matched by tag; peek, claim and
// discard.
#include "provider/ep.h"
#include "provider/provider.h"
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

constexpr std::uint64_t kSent = FI_TAGGED | FI_SEND;
constexpr std::uint64_t kReceived = FI_TAGGED | FI_RECV;

SendRequest tagged(const Sources& sources, std::uint64_t tag) noexcept {
  SendRequest request;
  request.kind = MessageKind::kTagged;
  request.tag = tag;
  request.slices = sources.span();
  return request;
}
SendRequest tagged(const Sources& sources, std::uint64_t tag, std::uint64_t data) noexcept {
  SendRequest request = tagged(sources, tag);
  request.has_data = true;
  request.data = data;
  return request;
}
ReceiveRequest matching(const Targets& targets, std::uint64_t tag, std::uint64_t ignore) noexcept {
  ReceiveRequest request;
  request.kind = MessageKind::kTagged;
  request.tag = tag;
  request.ignore = ignore;
  request.slices = targets.span();
  return request;
}

ssize_t receive(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, uint64_t tag,
                uint64_t ignore, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(buffer, bytes);
  ReceiveRequest request = matching(targets, tag, ignore);
  return endpoint.receive(request, from, {context, endpoint.default_receive(), kReceived});
}

ssize_t receive_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t tag,
                  uint64_t ignore, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(iov, count);
  if (!targets.good()) return -FI_EINVAL;
  ReceiveRequest request = matching(targets, tag, ignore);
  return endpoint.receive(request, from, {context, endpoint.default_receive(), kReceived});
}

ssize_t receive_msg(fid_ep* ep, const fi_msg_tagged* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(msg->msg_iov, msg->iov_count);
  if (!targets.good()) return -FI_EINVAL;
  const Start start = {msg->context, endpoint.with_receive(flags), kReceived};
  ReceiveRequest request = matching(targets, msg->tag, msg->ignore);
  if (flags & FI_PEEK) return endpoint.peek(request, msg->addr, start);
  if (flags & FI_CLAIM) return endpoint.receive_claimed(targets.span(), start);
  if (flags & (FI_DISCARD | FI_MULTI_RECV)) return -FI_EBADFLAGS;
  return endpoint.receive(request, msg->addr, start);
}

ssize_t send(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, uint64_t tag,
             void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  SendRequest request = tagged(sources, tag);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t send_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t tag,
               void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(iov, count);
  if (!sources.good()) return -FI_EINVAL;
  SendRequest request = tagged(sources, tag);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t send_msg(fid_ep* ep, const fi_msg_tagged* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(msg->msg_iov, msg->iov_count);
  if (!sources.good()) return -FI_EINVAL;
  SendRequest request =
      flags & FI_REMOTE_CQ_DATA ? tagged(sources, msg->tag, msg->data) : tagged(sources, msg->tag);
  return endpoint.send(request, msg->addr, {msg->context, endpoint.with_transmit(flags), kSent});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to, uint64_t tag) {
  const Sources sources(buffer, bytes);
  SendRequest request = tagged(sources, tag);
  return Endpoint::of(ep).inject(request, to);
}

ssize_t send_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                  uint64_t tag, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  SendRequest request = tagged(sources, tag, data);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to,
                    uint64_t tag) {
  const Sources sources(buffer, bytes);
  SendRequest request = tagged(sources, tag, data);
  return Endpoint::of(ep).inject(request, to);
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
