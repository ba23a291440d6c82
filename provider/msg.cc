// SPDX-License-Identifier: BSD-3-Clause
// provider/msg.cc -- fi_send, fi_recv and their kin: plain messages, matched in order of arrival.
#include "provider/ep.h"
#include "provider/provider.h"
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

constexpr std::uint64_t kSent = FI_MSG | FI_SEND;
constexpr std::uint64_t kReceived = FI_MSG | FI_RECV;

SendRequest plain(const Sources& sources) noexcept {
  SendRequest request;
  request.kind = MessageKind::kPlain;
  request.slices = sources.span();
  return request;
}
SendRequest plain(const Sources& sources, std::uint64_t data) noexcept {
  SendRequest request = plain(sources);
  request.has_data = true;
  request.data = data;
  return request;
}
ReceiveRequest any_plain(const Targets& targets) noexcept {
  ReceiveRequest request;
  request.kind = MessageKind::kPlain;
  request.ignore = ~Tag{0};
  request.slices = targets.span();
  return request;
}

ssize_t receive(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(buffer, bytes);
  ReceiveRequest request = any_plain(targets);
  return endpoint.receive(request, from, {context, endpoint.default_receive(), kReceived});
}

ssize_t receive_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from,
                  void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(iov, count);
  if (!targets.good()) return -FI_EINVAL;
  ReceiveRequest request = any_plain(targets);
  return endpoint.receive(request, from, {context, endpoint.default_receive(), kReceived});
}

ssize_t receive_msg(fid_ep* ep, const fi_msg* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(msg->msg_iov, msg->iov_count);
  if (!targets.good() || flags & (FI_PEEK | FI_CLAIM | FI_DISCARD)) return -FI_EINVAL;
  ReceiveRequest request = any_plain(targets);
  return endpoint.receive(request, msg->addr,
                          {msg->context, endpoint.with_receive(flags), kReceived});
}

ssize_t send(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  SendRequest request = plain(sources);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t send_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(iov, count);
  if (!sources.good()) return -FI_EINVAL;
  SendRequest request = plain(sources);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t send_msg(fid_ep* ep, const fi_msg* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(msg->msg_iov, msg->iov_count);
  if (!sources.good()) return -FI_EINVAL;
  SendRequest request = flags & FI_REMOTE_CQ_DATA ? plain(sources, msg->data) : plain(sources);
  return endpoint.send(request, msg->addr, {msg->context, endpoint.with_transmit(flags), kSent});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to) {
  const Sources sources(buffer, bytes);
  SendRequest request = plain(sources);
  return Endpoint::of(ep).inject(request, to);
}

ssize_t send_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                  void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  SendRequest request = plain(sources, data);
  return endpoint.send(request, to, {context, endpoint.default_transmit(), kSent});
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to) {
  const Sources sources(buffer, bytes);
  SendRequest request = plain(sources, data);
  return Endpoint::of(ep).inject(request, to);
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
