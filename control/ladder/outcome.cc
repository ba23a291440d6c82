// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/outcome.cc -- the names of rungs.
#include "control/ladder/outcome.h"

namespace livebtl::control {

const char* rung_name(Rung rung) noexcept {
  switch (rung) {
    case Rung::kOld:
      return "old";
    case Rung::kJoint:
      return "joint";
    case Rung::kNewTx:
      return "newtx";
    case Rung::kNew:
      return "new";
  }
  return "?";
}

}  // namespace livebtl::control
