// SPDX-License-Identifier: BSD-3-Clause
// ompi/running_version.cc -- see running_version.h.
#include "ompi/running_version.h"

#include "ompi/compat.h"
#include "ompi/version_text.h"

namespace livebtl::ompi {
namespace {

constexpr Version kBuiltFor{OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION};

/// A debug build, for example, has the same version but longer structures.
bool layouts_agree() noexcept {
  return ompi_request_t_class.cls_sizeof == sizeof(ompi_request_t) &&
         ompi_message_t_class.cls_sizeof == sizeof(ompi_message_t) &&
         opal_convertor_t_class.cls_sizeof == sizeof(opal_convertor_t) &&
         ompi_datatype_t_class.cls_sizeof == sizeof(ompi_datatype_t);
}

}  // namespace

Status check_running_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int bytes = 0;
  if (PMPI_Get_library_version(text, &bytes) != MPI_SUCCESS) bytes = 0;
  const Version running = version_in({text, static_cast<std::size_t>(bytes)});
  if (running != kBuiltFor) {
    return fail(Errc::kUnsupported, "this component was built for Open MPI " + text_of(kBuiltFor) +
                                        " and this is " + text_of(running) +
                                        "; build livebtl against this one's headers");
  }
  if (!layouts_agree()) {
    return fail(Errc::kUnsupported, "this Open MPI " + text_of(running) +
                                        " is configured differently from the one that this"
                                        " component was built for; build livebtl against this"
                                        " one's headers");
  }
  return {};
}

}  // namespace livebtl::ompi
