// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/places.h -- whether, and with whose rights, a job's files can be put back where
// they were, in directories to which all may write. Called before the files are unpacked, by
// btlctl's one thread; owns nothing.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "hypervisor/criu/criu_words.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// `list`: as checked by check_file_list(). Every directory above one of these files, below its
/// passing place, must either not exist yet, or be no symbolic link, belong to root or to `owner`,
/// and not be writable by all (unless it has the sticky bit). So no third user who is not in its
/// group can lead what root writes elsewhere. A file that is there already must be `owner`'s:
/// nobody else's is replaced. Errors: kRefused, kSystem.
Status check_places(std::string_view list, uid_t owner);

/// Makes the directories above these files that only root can make, such as /run/livebtl/1000, and
/// gives them to `owner`, who makes all below. Makes them only in directories that belong to root
/// and that nobody else may write to, so that nothing can be put in their place. Errors: kSystem.
Status make_places(std::string_view list, uid_t owner);

/// The user with their login group; for a user unknown to this node, the group of the same number.
FileOwner with_group(uid_t user);

}  // namespace livebtl::hypervisor
