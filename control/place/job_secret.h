// SPDX-License-Identifier: BSD-3-Clause
// control/place/job_secret.h -- the 32 bytes that only the job's processes know, and where they
// come from.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/settings.h"

namespace livebtl::control {

/// In order: SECRET_FD, SECRET_FILE, the seed from the launcher or livebtl-run (keyed hash), else
/// the 0600 file `shared` in the job's directory (secret_path() in run.h), made by the run's first
/// process. AUTH=none: absent. Errors: kAuth (owner, mode), kInvalid (not 32 bytes or 64
/// hexadecimal digits), kNotFound, kLimit, kSystem.
Result<Secret> find_secret(const Settings& settings, std::string_view seed,
                           const std::string& shared);

/// For btlctl from outside. Errors as above.
Result<Secret> read_secret_file(const std::string& path);

/// As in such a file: 64 hexadecimal digits; empty: absent.
std::string secret_text(const Secret& secret);
/// The inverse. Errors: kInvalid.
Result<Secret> parse_secret_text(std::string_view text);
/// Makes the file, mode 0600. Errors: kRefused (it exists), kAuth (no permission), kSystem.
Status write_secret_file(const std::string& path, std::string_view text);

}  // namespace livebtl::control
