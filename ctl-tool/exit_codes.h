// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exit_codes.h -- what btlctl's exit codes mean: for --help, the man page and its tests.
// The codes themselves are control/ladder/outcome.h's.
#pragma once

#include <span>

namespace livebtl::tool {

struct ExitCodeMeaning {
  int code;
  const char* meaning;
};

/// In order.
std::span<const ExitCodeMeaning> exit_codes() noexcept;

}  // namespace livebtl::tool
