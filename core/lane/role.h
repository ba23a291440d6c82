// SPDX-License-Identifier: BSD-3-Clause
// core/lane/role.h -- how a frame affects credit and open requests (docs/WIRE.md, "Credit"). Pure.
#pragma once

#include <cstdint>

namespace livebtl::core {

/// How a frame of the ordered lane affects the counts by which the ends of a pair limit each other.
enum class Role : std::uint8_t {
  kPlain,           // affects none
  kMessage,         // spends credit, until the peer gives it back
  kRequest,         // one-sided: open until it is answered
  kAnswersMessage,  // posting it gives back the credit of a message that asked for an answer
  kAnswersEarly,    // answers a message whose credit went back early
  kAnswersRequest,  // posting it ends a request of the peer's
};

}  // namespace livebtl::core
