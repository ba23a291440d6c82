// SPDX-License-Identifier: BSD-3-Clause
// control/wire/unix_address.h -- the address of a socket in the file system. Pure.
#pragma once

#include <sys/un.h>

#include <cstring>
#include <optional>
#include <string>

namespace livebtl::control {

/// nullopt: the path is too long for one.
inline std::optional<sockaddr_un> unix_address(const std::string& path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace livebtl::control
