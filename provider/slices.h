// SPDX-License-Identifier: BSD-3-Clause
// provider/slices.h -- libfabric's scattered buffers (iovec) as Slices, on the caller's stack, and
// the common start of all calls that take some.
#pragma once

#include <sys/uio.h>

#include <type_traits>

#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {

template <class Piece>
class SliceArray {
 public:
  SliceArray(void* data, std::size_t bytes) noexcept : count_(bytes > 0 ? 1 : 0) {
    pieces_[0] = {data, bytes};
  }
  SliceArray(const void* data, std::size_t bytes) noexcept requires std::is_same_v<Piece, Slice>
      : count_(bytes > 0 ? 1 : 0) {
    pieces_[0] = {data, bytes};
  }
  SliceArray(const iovec* iov, std::size_t count) noexcept : good_(count <= kIovMax) {
    for (std::size_t i = 0; good_ && i < count; ++i) {
      if (iov[i].iov_len > 0) pieces_[count_++] = {iov[i].iov_base, iov[i].iov_len};
    }
  }

  /// false: more pieces than fi_info's iov_limit.
  bool good() const noexcept { return good_; }
  std::span<const Piece> span() const noexcept { return {pieces_, count_}; }

 private:
  Piece pieces_[kIovMax];
  std::size_t count_ = 0;
  bool good_ = true;
};

using Sources = SliceArray<Slice>;
using Targets = SliceArray<MutableSlice>;

/// Puts `pieces` into the request and calls the endpoint with it.
template <class Piece, class Request, class... More>
[[gnu::always_inline]] inline ssize_t start(ssize_t (Endpoint::*call)(Request&, More...) noexcept,
                                            fid_ep* ep, const SliceArray<Piece>& pieces,
                                            std::type_identity_t<Request>&& request,
                                            std::type_identity_t<More>... more) noexcept {
  if (!pieces.good()) return -FI_EINVAL;
  request.slices = pieces.span();
  return (Endpoint::of(ep).*call)(request, more...);
}

}  // namespace livebtl::fi
