// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_reader.h -- reads a member's page without waking anybody: from a file by
// read(2), so that whoever shortens it meanwhile does no harm; or from memory.
//
// All input is hostile: lengths, texts, numbers and indices are checked, and no number in it
// decides how long anything takes. Threads: any; nothing is kept.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/bytes.h"
#include "control/place/page_view.h"
#include "livebtl/result.h"

namespace livebtl::control {

/// The page of `process` in a job's directory. `owner` must own both. Errors: kNotFound, kAuth
/// (owner, mode, not a plain file), kCorrupt (says what), kUnsupported (another version's),
/// kSystem.
Result<PageView> read_page(const std::string& directory, uid_t owner, ProcessId process);

/// Copies bytes of a page from that offset. false: they are not there.
using PageBytes = std::function<bool(std::size_t offset, MutableBytes into)>;
/// Errors: kCorrupt, kUnsupported.
Result<PageView> read_page(const PageBytes& bytes, ProcessId process);

}  // namespace livebtl::control
