// SPDX-License-Identifier: BSD-3-Clause
// base/result.cc -- the names of the error codes (include/livebtl/result.h).
#include <livebtl/result.h>

namespace livebtl {

const char* errc_name(Errc code) noexcept {
  switch (code) {
    case Errc::kOk:
      return "ok";
    case Errc::kInvalid:
      return "invalid";
    case Errc::kUnreachable:
      return "unreachable";
    case Errc::kDown:
      return "down";
    case Errc::kRefused:
      return "refused";
    case Errc::kTimeout:
      return "timeout";
    case Errc::kAuth:
      return "auth";
    case Errc::kNoMemory:
      return "no_memory";
    case Errc::kLimit:
      return "limit";
    case Errc::kSystem:
      return "system";
    case Errc::kUnsupported:
      return "unsupported";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kTruncated:
      return "truncated";
    case Errc::kPeerLost:
      return "peer_lost";
    case Errc::kNotFound:
      return "not_found";
    case Errc::kBadKey:
      return "bad_key";
  }
  return "unknown";  // a number from the wire that is no code of ours
}

}  // namespace livebtl
