// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_frame.cc -- see verbs_frame.h.
#include "transports/verbs/verbs_frame.h"

#include <cstring>

namespace livebtl::verbs {

std::optional<Lent> decode_lent(Bytes payload) noexcept {
  if (payload.size() != sizeof(Lent)) return std::nullopt;
  Lent lent;
  std::memcpy(&lent, payload.data(), sizeof lent);
  const bool sane = lent.bytes >= kLentBytesMin && lent.bytes <= kLentBytesMax &&
                    lent.crc_given <= 1 && (lent.crc_given != 0 || lent.crc == 0);
  return sane ? std::optional(lent) : std::nullopt;
}

}  // namespace livebtl::verbs
