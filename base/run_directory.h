// SPDX-License-Identifier: BSD-3-Clause
// base/run_directory.h -- the directory in which a user's processes find one another: which it is, made and checked.
// Any thread; nothing is kept here.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl {

/// Where run directories may be, in this order: SYSTEM/UID, SESSION/livebtl, and the places of
/// temporary_places() in TEMPORARY.
struct RunPlaces {
  std::string system = "/run/livebtl";
  std::optional<std::string> session = {};  // $XDG_RUNTIME_DIR
  std::string temporary = "/tmp";
};
/// As this process's environment has them; that of a set-uid program is not trusted.
RunPlaces run_places();

/// This process's run directory: `wanted` (LIVEBTL_RUNDIR) if not empty, else the first of `places` that exists (the
/// session: that exists above it) or can be made. Made 0700 if missing. Errors: kAuth (wrong owner or mode), kInvalid
/// (not absolute), kSystem.
Result<std::string> make_run_directory(const std::string& wanted, const RunPlaces& places);

/// TEMPORARY/livebtl-UID, and more of such names: in a folder that all users share another user may have
/// taken the first. That one is used which is the user's already, else the first that can be.
std::vector<std::string> temporary_places(const std::string& temporary, uid_t user);
/// Is something of that name there which belongs to another user?
bool taken_by_another(const std::string& path, uid_t user);

/// Makes a directory of this user's alone, if it is missing. Errors: kAuth, kSystem.
Status make_private_directory(const std::string& path);
/// Opens a directory that belongs to `owner` and to nobody else. Errors: kAuth, kNotFound, kSystem.
Result<Fd> open_private_directory(const std::string& path, uid_t owner);

}  // namespace livebtl
