// SPDX-License-Identifier: BSD-3-Clause
// base/result.cc -- the names of the error codes (include/livebtl/result.h).
#include <livebtl/result.h>

#include <iterator>

namespace livebtl {
namespace {

constexpr const char* kNames[] = {"ok",          "invalid", "unreachable", "down",      "refused",
                                  "timeout",     "auth",    "no_memory",   "limit",     "system",
                                  "unsupported", "corrupt", "cancelled",   "truncated", "peer_lost",
                                  "not_found",   "bad_key"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Errc::kBadKey) + 1);

}  // namespace

const char* errc_name(Errc code) noexcept {
  const auto number = static_cast<std::size_t>(code);
  return number < std::size(kNames) ? kNames[number] : "unknown";  // may come from the wire
}

}  // namespace livebtl
