// SPDX-License-Identifier: BSD-3-Clause
// livebtl/result.h -- the one error type of the library.
//
// Three kinds of failure are never mixed: busy is a return value of its own (Accept::kBusy,
// Post::kRetry), an operating error is an Error in a Result, a bug is an assertion (base/assert.h).
#pragma once

#include <livebtl/export.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace livebtl {

/// What went wrong, for programs. Error::text tells people what went wrong and what to do next.
enum class Errc : std::uint8_t {
  kOk = 0,
  kInvalid,      // an argument, a setting or bytes from outside are malformed
  kUnreachable,  // no transport reaches the peer
  kDown,         // a path or endpoint is gone
  kRefused,      // the other side refused
  kTimeout,      // a deadline passed
  kAuth,         // not authenticated, or not permitted
  kNoMemory,     // no memory or descriptor was available
  kLimit,        // a documented limit would be exceeded
  kSystem,       // a system call failed; the text includes strerror(errno)
  kUnsupported,  // the transport or build does not offer this
  kCorrupt,      // a checksum did not match
  kCancelled,    // the caller cancelled the operation
  kTruncated,    // the message was longer than the buffer
  kPeerLost,     // the peer's process is proved dead, or the pair is inconsistent
  kNotFound,     // no such job, transport, region or member
  kBadKey,       // no region with that key, or its rights or bounds forbid the access
};

struct Error {
  Errc code = Errc::kOk;
  std::string text;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Shorthand for `return fail(Errc::kInvalid, "what, and what to do")`.
inline tl::unexpected<Error> fail(Errc code, std::string text) {
  return tl::unexpected<Error>(Error{code, std::move(text)});
}

/// The name of a code as it appears in logs and JSON: "ok", "invalid", "unreachable", ...
LIVEBTL_API const char* errc_name(Errc code) noexcept;

}  // namespace livebtl
