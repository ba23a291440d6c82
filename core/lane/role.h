// SPDX-License-Identifier: BSD-3-Clause
// core/lane/role.h -- what a frame means to credit and to open requests (docs/WIRE.md, "Credit"). Pure.
#pragma once

#include <cstdint>

namespace livebtl::core {

/// What a frame of the ordered lane is to the counts by which the two ends of a pair bound each other.
enum class Role : std::uint8_t {
  kPlain,           // to none of them
  kMessage,         // spends credit, until the peer gives it back
  kRequest,         // one-sided: open until it is answered
  kAnswersMessage,  // posted, it gives the credit of a message back that asked for an answer
  kAnswersEarly,    // the same of one whose credit went back as it was stored
  kAnswersRequest,  // posted, it ends a request of the peer's
};

}  // namespace livebtl::core
