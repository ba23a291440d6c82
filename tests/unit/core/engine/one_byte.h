// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/one_byte.h -- a message by which two engines meet.
#pragma once

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

/// One byte from engine 0 to engine 1, which waits for it.
struct Sent {
  explicit Sent(Rig& rig) {
    REQUIRE(rig.ports[1]->receive({}, received) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1)}, sent) == Accept::kAccepted);
  }
  Watched sent, received;
};

}  // namespace livebtl::test
