// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_errors.cc -- see verbs_errors.h.
#include "transports/verbs/verbs_errors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace livebtl::verbs {

namespace {

// Queues lock memory as well: whatever is made may hit the limit.
std::string lock_limit(int error) {
  rlimit limit{};
  if ((error != ENOMEM && error != EPERM) || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return {};
  return "; the limit on locked memory is " + std::to_string(limit.rlim_cur >> 10) +
         " KiB: raise it (ulimit -l unlimited, or LimitMEMLOCK= of the service that starts the "
         "job)";
}

}  // namespace

std::string errno_text(int error) { return std::generic_category().message(error); }

Error cannot_open(const ibv_device& device, int error) {
  const std::string node = std::string("/dev/infiniband/") + device.dev_name;
  // After any failure libibverbs looks for the file elsewhere, and then reports that.
  if (error == ENOENT && ::faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) != 0)
    error = errno;
  std::string text = std::string(device.name) + " cannot be opened: " + errno_text(error);
  if (error == EACCES || error == EPERM) {
    return {Errc::kAuth, text + "; give this user the right to read and write " + node +
                             " (on many systems: the group rdma)"};
  }
  if (error == ENOENT || error == ENXIO) {
    return {Errc::kSystem, text + "; is " + node +
                               " there (udev makes it), and the module ib_uverbs loaded? A "
                               "container must be given the device"};
  }
  return {Errc::kSystem, text};
}

Error cannot_make(const std::string& what, int error) {
  std::string text = "verbs: cannot create " + what + ": " + errno_text(error);
  if (error == ENOMEM || error == EAGAIN)
    text += "; the device or its limits on memory are used up, maybe by other processes";
  return {error == ENOMEM ? Errc::kNoMemory : Errc::kSystem, text + lock_limit(error)};
}

Error cannot_register(std::size_t bytes, int error) {
  return {Errc::kNoMemory, "verbs: cannot register " + std::to_string(bytes >> 10) +
                               " KiB of memory with the device: " + errno_text(error) +
                               lock_limit(error)};
}

Error explain(ibv_wc_status status, const std::string& connection) {
  const auto down = [&](const std::string& why) {
    return Error{Errc::kDown, connection + ": " + why};
  };
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return down(
          "the peer's port does not answer any more: it has closed, its machine is gone, or a "
          "cable or switch between is down");
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return down("the peer has no buffer for what it had promised to take");
    case IBV_WC_WR_FLUSH_ERR:
      return down("the connection has broken");
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
      return down("the device failed here, or was taken away");
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
      return down("the peer's device refused what was sent");
    default:
      return down("the device reports status " + std::to_string(static_cast<int>(status)) +
                  " (ibv_wc_status)");
  }
}

}  // namespace livebtl::verbs
