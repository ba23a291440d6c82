// SPDX-License-Identifier: BSD-3-Clause
// ompi/version_text.h -- a version of Open MPI, from and to text. Pure: needs no Open MPI.
#pragma once

#include <string>
#include <string_view>

namespace livebtl::ompi {

struct Version {
  int major = 0;
  int minor = 0;
  int release = 0;
  friend bool operator==(const Version&, const Version&) = default;
};

/// The version in "Open MPI v4.1.4, package: ..."; 0.0.0 if there is none.
Version version_in(std::string_view library_version) noexcept;
std::string text_of(const Version& version);

}  // namespace livebtl::ompi
