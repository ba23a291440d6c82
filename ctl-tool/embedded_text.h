// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/embedded_text.h -- the files of scripts/hooks and ctl-tool/texts as they were when
// btlctl was built: a btlctl that was copied to a host carries them.
#pragma once

#include <string_view>

namespace livebtl::tool {

/// The text of the file of that name; null: no such file.
const char* embedded_text(std::string_view name);

}  // namespace livebtl::tool
