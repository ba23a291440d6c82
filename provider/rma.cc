// SPDX-License-Identifier: BSD-3-Clause
// provider/rma.cc -- fi_read, fi_write and their kin.
#include "provider/slices.h"

namespace livebtl::fi {
namespace {

GetRequest get_of(std::uint64_t address, std::uint64_t key) noexcept {
  GetRequest request;
  request.remote = {key, address};
  return request;
}
PutRequest put_of(std::uint64_t address, std::uint64_t key) noexcept {
  PutRequest request;
  request.remote = {key, address};
  return request;
}
PutRequest put_of(std::uint64_t address, std::uint64_t key, std::uint64_t data) noexcept {
  PutRequest request = put_of(address, key);
  request.data = data;
  return request;
}
Start reads(fid_ep* ep, void* context) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), FI_RMA | FI_READ};
}
Start writes(fid_ep* ep, void* context) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), FI_RMA | FI_WRITE};
}
/// No completion; the bytes are copied, since the engine reads them until the put is done.
constexpr Start kInjected{nullptr, FI_INJECT, FI_RMA | FI_WRITE};

ssize_t read(fid_ep* ep, void* buffer, size_t bytes, void*, fi_addr_t from, uint64_t address,
             uint64_t key, void* context) {
  return start(&Endpoint::get, ep, Targets(buffer, bytes), get_of(address, key), from,
               reads(ep, context));
}

ssize_t read_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t address,
               uint64_t key, void* context) {
  return start(&Endpoint::get, ep, Targets(iov, count), get_of(address, key), from,
               reads(ep, context));
}

ssize_t read_msg(fid_ep* ep, const fi_msg_rma* msg, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(&Endpoint::get, ep, Targets(msg->msg_iov, msg->iov_count),
               get_of(msg->rma_iov[0].addr, msg->rma_iov[0].key), msg->addr,
               {msg->context, Endpoint::of(ep).with_transmit(flags), FI_RMA | FI_READ});
}

ssize_t write(fid_ep* ep, const void* buffer, size_t bytes, void*, fi_addr_t to, uint64_t address,
              uint64_t key, void* context) {
  return start(&Endpoint::put, ep, Sources(buffer, bytes), put_of(address, key), to,
               writes(ep, context));
}

ssize_t write_v(fid_ep* ep, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t address,
                uint64_t key, void* context) {
  return start(&Endpoint::put, ep, Sources(iov, count), put_of(address, key), to,
               writes(ep, context));
}

ssize_t write_msg(fid_ep* ep, const fi_msg_rma* msg, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  const fi_rma_iov& there = msg->rma_iov[0];
  return start(&Endpoint::put, ep, Sources(msg->msg_iov, msg->iov_count),
               flags & FI_REMOTE_CQ_DATA ? put_of(there.addr, there.key, msg->data)
                                         : put_of(there.addr, there.key),
               msg->addr, {msg->context, Endpoint::of(ep).with_transmit(flags), FI_RMA | FI_WRITE});
}

ssize_t inject(fid_ep* ep, const void* buffer, size_t bytes, fi_addr_t to, uint64_t address,
               uint64_t key) {
  return start(&Endpoint::put, ep, Sources(buffer, bytes), put_of(address, key), to, kInjected);
}

ssize_t write_data(fid_ep* ep, const void* buffer, size_t bytes, void*, uint64_t data, fi_addr_t to,
                   uint64_t address, uint64_t key, void* context) {
  return start(&Endpoint::put, ep, Sources(buffer, bytes), put_of(address, key, data), to,
               writes(ep, context));
}

ssize_t inject_data(fid_ep* ep, const void* buffer, size_t bytes, uint64_t data, fi_addr_t to,
                    uint64_t address, uint64_t key) {
  return start(&Endpoint::put, ep, Sources(buffer, bytes), put_of(address, key, data), to,
               kInjected);
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
