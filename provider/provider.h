// SPDX-License-Identifier: BSD-3-Clause
// provider/provider.h -- what every file of the libfabric provider shares: names, limits, errors,
// stubs.
//
// The provider is a thin layer on the public interface in include/livebtl: a domain holds the
// process's engine, an endpoint is a Port. No exception leaves a function that libfabric calls.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <sys/types.h>

#include <cstdio>
#include <exception>
#include <new>

#include "livebtl/engine.h"

namespace livebtl::fi {

inline constexpr char kProviderName[] = "livebtl";
inline constexpr char kFabricName[] = "livebtl";
inline constexpr char kDomainName[] = "livebtl0";

inline constexpr std::size_t kAddressBytes = sizeof(Address::raw);
inline constexpr std::size_t kIovMax = kSlicesMax;
inline constexpr std::size_t kInjectBytes = kInjectBytesMin;
inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 40;
/// Limit of sends, puts, gets and atomics accepted and not yet read from the completion queue;
/// beyond it data calls return -FI_EAGAIN.
inline constexpr std::size_t kTransmitsMax = 65536;
/// The same for posted receives: a program may well post them all before it sends.
inline constexpr std::size_t kReceivesMax = std::size_t{1} << 20;

/// Writes why the provider cannot be used, and what to do, to libfabric's log, or to stderr if that
/// is silent, as it is by default: the program above learns only the error number.
void tell_user(const Error& error) noexcept;

/// libfabric's positive error number for one of our codes.
int errno_of(Errc code) noexcept;
/// The same, inline for the common case of no error.
inline int errno_if_bad(Errc code) noexcept { return code == Errc::kOk ? 0 : errno_of(code); }

/// What a data call returns for the engine's answer.
inline ssize_t return_of(Accept accept) noexcept {
  switch (accept) {
    case Accept::kAccepted:
      return 0;
    case Accept::kBusy:
      return -FI_EAGAIN;
    case Accept::kPeerLost:
      return -FI_ECONNABORTED;
    case Accept::kInvalid:
      break;
  }
  return -FI_EINVAL;
}

/// Stands in for a call that is not offered: libfabric's inline wrappers do not check for null.
template <class R, class... Args>
R nosys(Args...) noexcept {
  return static_cast<R>(-FI_ENOSYS);
}

/// fi_cq_strerror, fi_eq_strerror.
template <class Fid>
const char* error_text(Fid*, int provider_errno, const void*, char* text, std::size_t bytes) {
  const char* const words = fi_strerror(provider_errno);
  if (text && bytes > 0) std::snprintf(text, bytes, "%s", words);
  return words;
}

/// Calls `body`, which returns an int, and turns std::bad_alloc into -FI_ENOMEM.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return -FI_ENOMEM;
  } catch (const std::exception&) {
    return -FI_EOTHER;
  }
}

}  // namespace livebtl::fi
