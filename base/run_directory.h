// SPDX-License-Identifier: BSD-3-Clause
// base/run_directory.h -- the directory in which a user's processes find one another: chosen, made
// and checked. Any thread; nothing is kept here.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl {

/// Where run directories may be, in this order: SYSTEM/UID, SESSION/livebtl, and
/// temporary_places() in TEMPORARY.
struct RunPlaces {
  std::string system = "/run/livebtl";
  std::optional<std::string> session = {};  // $XDG_RUNTIME_DIR
  std::string temporary = "/tmp";
};
/// From this process's environment, which is not trusted in a set-uid program.
RunPlaces run_places();

/// This process's run directory: `wanted` (LIVEBTL_RUNDIR) if not empty, else the first of `places`
/// that exists (for SESSION/livebtl: if SESSION exists) or can be made. Made 0700 if missing.
/// Errors: kAuth (wrong owner or mode), kInvalid (not absolute), kSystem.
Result<std::string> make_run_directory(const std::string& wanted, const RunPlaces& places);

/// TEMPORARY/livebtl-UID and variants: in a directory that all users share, another user may have
/// taken the first name. Used is the first that is the user's already, else the first available.
std::vector<std::string> temporary_places(const std::string& temporary, uid_t user);
/// Does something by that name exist that belongs to another user?
bool taken_by_another(const std::string& path, uid_t user);

/// Makes a directory private to this user if it is missing, and checks it. Errors: kAuth, kSystem.
Status make_private_directory(const std::string& path);
/// Opens a directory that belongs to `owner` and to nobody else. Errors: kAuth, kNotFound, kSystem.
Result<Fd> open_private_directory(const std::string& path, uid_t owner);

}  // namespace livebtl
