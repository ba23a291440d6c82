// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_end.h -- how a receive ends. The user gets the buffer back only with the last
// call of `done`: a multi-receive that is withdrawn while messages arrive into it ends after them.
//
// Threads: under the engine's lock. After the last call the operation must not be touched.
#pragma once

#include "core/lane/match.h"

namespace livebtl::core {

/// Ends a receive that its matcher just withdrew. code: what its last call reports.
inline void end_withdrawn(Operation& receive, Errc code) noexcept {
  ReceiveState& state = state_of<ReceiveState>(receive);
  state.withdrawn = code;
  if (state.multi_open != 0) return;
  receive.done(receive, {.code = code, .buffer_released = state.multi_bytes_min != 0});
}

/// One message has ended, and with it its receive, unless that takes several.
inline void end_message(Operation& receive, const Completion& completion) noexcept {
  ReceiveState& state = state_of<ReceiveState>(receive);
  if (state.multi_bytes_min == 0) [[likely]]
    return receive.done(receive, completion);
  --state.multi_open;
  const bool last = !state.posted && !state.reposting && state.multi_open == 0;
  const Errc withdrawn = state.withdrawn;
  Completion told = completion;
  told.buffer_released = last && withdrawn == Errc::kOk;
  receive.done(receive, told);
  if (last && withdrawn != Errc::kOk) end_withdrawn(receive, withdrawn);
}

}  // namespace livebtl::core
