// SPDX-License-Identifier: BSD-3-Clause
// provider/rma.cc -- fi_read, fi_write and their kin.
#include "provider/ep.h"
#include "provider/provider.h"
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

constexpr std::uint64_t kRead = FI_RMA | FI_READ;
constexpr std::uint64_t kWritten = FI_RMA | FI_WRITE;

GetRequest get_of(const Targets& targets, std::uint64_t address, std::uint64_t key) noexcept {
  GetRequest request;
  request.remote = {key, address};
  request.slices = targets.span();
  return request;
}
PutRequest put_of(const Sources& sources, std::uint64_t address, std::uint64_t key) noexcept {
  PutRequest request;
  request.remote = {key, address};
  request.slices = sources.span();
  return request;
}

ssize_t read(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, uint64_t address,
             uint64_t key, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(buffer, bytes);
  GetRequest request = get_of(targets, address, key);
  return endpoint.get(request, from, {context, endpoint.default_transmit(), kRead});
}

ssize_t read_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t address,
               uint64_t key, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(iov, count);
  if (!targets.good()) return -FI_EINVAL;
  GetRequest request = get_of(targets, address, key);
  return endpoint.get(request, from, {context, endpoint.default_transmit(), kRead});
}

ssize_t read_msg(fid_ep* ep, const fi_msg_rma* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Targets targets(msg->msg_iov, msg->iov_count);
  if (!targets.good() || msg->rma_iov_count != 1) return -FI_EINVAL;
  GetRequest request = get_of(targets, msg->rma_iov[0].addr, msg->rma_iov[0].key);
  return endpoint.get(request, msg->addr, {msg->context, endpoint.with_transmit(flags), kRead});
}

ssize_t write(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, uint64_t address,
              uint64_t key, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  PutRequest request = put_of(sources, address, key);
  return endpoint.put(request, to, {context, endpoint.default_transmit(), kWritten});
}

ssize_t write_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t address,
                uint64_t key, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(iov, count);
  if (!sources.good()) return -FI_EINVAL;
  PutRequest request = put_of(sources, address, key);
  return endpoint.put(request, to, {context, endpoint.default_transmit(), kWritten});
}

ssize_t write_msg(fid_ep* ep, const fi_msg_rma* msg, uint64_t flags) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(msg->msg_iov, msg->iov_count);
  if (!sources.good() || msg->rma_iov_count != 1) return -FI_EINVAL;
  PutRequest request = put_of(sources, msg->rma_iov[0].addr, msg->rma_iov[0].key);
  if (flags & FI_REMOTE_CQ_DATA) request.data = msg->data;
  return endpoint.put(request, msg->addr, {msg->context, endpoint.with_transmit(flags), kWritten});
}

/// No completion; the bytes are copied, for the engine reads them until the put is done.
ssize_t put_injected(fid_ep* ep, PutRequest& request, fi_addr_t to) noexcept {
  return Endpoint::of(ep).put(request, to, {nullptr, FI_INJECT, kWritten});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to, uint64_t address,
               uint64_t key) {
  const Sources sources(buffer, bytes);
  PutRequest request = put_of(sources, address, key);
  return put_injected(ep, request, to);
}

ssize_t write_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                   uint64_t address, uint64_t key, void* context) {
  Endpoint& endpoint = Endpoint::of(ep);
  const Sources sources(buffer, bytes);
  PutRequest request = put_of(sources, address, key);
  request.data = data;
  return endpoint.put(request, to, {context, endpoint.default_transmit(), kWritten});
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to,
                    uint64_t address, uint64_t key) {
  const Sources sources(buffer, bytes);
  PutRequest request = put_of(sources, address, key);
  request.data = data;
  return put_injected(ep, request, to);
}

}  // namespace

fi_ops_rma rma_ops = {
    .size = sizeof(fi_ops_rma),
    .read = read,
    .readv = read_v,
    .readmsg = read_msg,
    .write = write,
    .writev = write_v,
    .writemsg = write_msg,
    .inject = inject,
    .writedata = write_data,
    .injectdata = inject_data,
};

}  // namespace livebtl::fi
