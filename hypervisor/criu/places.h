// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/places.h -- whether a job's files can be put back where they were, in directories to which all may
// write, and with whose rights. Called before the files are unpacked, by btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "hypervisor/criu/criu_words.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// list: as check_file_list() found it. Every directory above one of these files, below its passing place, has to be
/// one, no symbolic link, to belong to root or to `owner`, and to be writable by nobody else (or have the sticky bit),
/// or not to exist yet. So no third user can lead what root writes elsewhere. A file that is there already has to be
/// `owner`'s: nobody else's is replaced. Errors: kRefused, kSystem.
Status check_places(std::string_view list, uid_t owner);

/// Makes the directories above these files that only root can make, as /run/livebtl/1000, and gives them to `owner`, who
/// makes all below. In directories alone that belong to root, and that nobody else may write to, so that nothing can be put
/// in their place. Errors: kSystem.
Status make_places(std::string_view list, uid_t owner);

/// With the group that the user has at a login; of a user whom this node does not know, one of the same number.
FileOwner with_group(uid_t user);

}  // namespace livebtl::hypervisor
