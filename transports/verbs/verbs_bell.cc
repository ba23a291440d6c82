// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_bell.cc -- see verbs_bell.h. Formats: rdma_user_ioctl_cmds.h and
// ib_user_ioctl_cmds.h (the call), ib_user_verbs.h (the command).
#include "transports/verbs/verbs_bell.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace livebtl::verbs {
namespace {

/// These structures end in a zero-length array, which `{}` may not name (clang's
/// -Wzero-length-array).
template <class Format>
Format zeroed() noexcept {
  Format made;
  std::memset(&made, 0, sizeof made);
  return made;
}

ib_uverbs_attr attribute(std::uint16_t id, std::size_t bytes, std::uint64_t data) noexcept {
  ib_uverbs_attr made{};
  made.attr_id = id;
  made.len = static_cast<std::uint16_t>(bytes);
  made.flags = UVERBS_ATTR_F_MANDATORY;
  made.data = data;
  return made;
}

}  // namespace

int ring_soft_roce(int command_fd, std::uint32_t queue_pair) noexcept {
  auto command = zeroed<ib_uverbs_post_send>();  // no new request: it is about those in the queue
  command.qp_handle = queue_pair;
  command.wqe_size = sizeof(ib_uverbs_send_wr);
  ib_uverbs_post_send_resp answer{};
  const std::array attributes = {
      attribute(UVERBS_ATTR_WRITE_CMD, sizeof(std::uint64_t), IB_USER_VERBS_CMD_POST_SEND),
      attribute(UVERBS_ATTR_CORE_IN, sizeof command, reinterpret_cast<std::uint64_t>(&command)),
      attribute(UVERBS_ATTR_CORE_OUT, sizeof answer, reinterpret_cast<std::uint64_t>(&answer))};
  auto header = zeroed<ib_uverbs_ioctl_hdr>();
  alignas(ib_uverbs_ioctl_hdr) std::array<std::byte, sizeof header + sizeof attributes> request;
  header.length = static_cast<std::uint16_t>(request.size());
  header.object_id = UVERBS_OBJECT_DEVICE;
  header.method_id = UVERBS_METHOD_INVOKE_WRITE;
  header.num_attrs = static_cast<std::uint16_t>(attributes.size());
  header.driver_id = RDMA_DRIVER_RXE;
  std::memcpy(request.data(), &header, sizeof header);
  std::memcpy(request.data() + sizeof header, attributes.data(), sizeof attributes);
  return ::ioctl(command_fd, RDMA_VERBS_IOCTL, request.data()) == 0 ? 0 : errno;
}

}  // namespace livebtl::verbs
