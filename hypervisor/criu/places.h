// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/places.h -- whether root can put a job's files back where they were, in directories to which all may
// write. Called before the files are unpacked, by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// list: as check_file_list() found it. Every directory above one of these files, below its passing place, has to be
/// one, no symbolic link, to belong to root or to `owner`, and to be writable by nobody else (or have the sticky bit),
/// or not to exist yet. So no third user can lead what root writes elsewhere. A file that is there already has to be
/// `owner`'s: nobody else's is replaced. Errors: kRefused, kSystem.
Status check_places(std::string_view list, uid_t owner);

}  // namespace livebtl::hypervisor
