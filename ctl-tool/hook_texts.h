// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hook_texts.h -- the files of scripts/hooks, as they are when btlctl is built: a btlctl
// that was copied to a host has them with it.
#pragma once

#include <string_view>

namespace livebtl::tool {

/// Of the hook of that name; null: there is no such file.
const char* hook_text(std::string_view name);

}  // namespace livebtl::tool
