// SPDX-License-Identifier: BSD-3-Clause
// control/place/job_secret.h -- the 32 bytes that only the job's processes know, and where they come
// from.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/settings.h"

namespace livebtl::control {

/// In order: SECRET_FD, SECRET_FILE, the seed that the launcher or livebtl-run gave (keyed hash), else the 0600 file `shared` in the
/// job's directory (secret_path() in run.h), made by the first process of the run. AUTH=none: absent. Errors: kAuth (owner,
/// mode), kInvalid (not 32 bytes or 64 hexadecimal digits), kSystem.
Result<Secret> find_secret(const Settings& settings, std::string_view seed,
                           const std::string& shared);

/// For btlctl from outside. Errors as above.
Result<Secret> read_secret_file(const std::string& path);

/// As it stands in such a file: 64 hexadecimal digits; empty: absent.
std::string secret_text(const Secret& secret);
/// The other way round. Errors: kInvalid.
Result<Secret> parse_secret_text(std::string_view text);
/// Makes the file, with mode 0600. Errors: kRefused (there is one already), kSystem.
Status write_secret_file(const std::string& path, std::string_view text);

}  // namespace livebtl::control
