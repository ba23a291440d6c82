// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hook_texts.h -- the files of scripts/hooks, as they are when btlctl is built: a btlctl
// that was copied to a host has them with it.
#pragma once

namespace livebtl::tool {

extern const char* const kHookQemuGa;
extern const char* const kHookLibvirt;
extern const char* const kHookCriu;
extern const char* const kHookVirsh;

}  // namespace livebtl::tool
