// SPDX-License-Identifier: BSD-3-Clause
// core/lane/peer.cc -- see peer.h.
#include "core/lane/peer.h"

#include <algorithm>

#include "base/hex.h"

namespace livebtl {

std::string Peer::name() const {
  const std::string id = hex_digits(static_cast<std::uint64_t>(process), 16);
  return label.empty() ? "process " + id : label + " (" + id + ")";
}

bool Peer::connected() const noexcept {
  return std::any_of(paths.begin(), paths.end(), [](const auto& path) { return path->open(); });
}

}  // namespace livebtl
