// SPDX-License-Identifier: BSD-3-Clause
// ompi/component.h -- what Open MPI finds when it loads mca_pml_livebtl.so.
#pragma once

#include "ompi/compat.h"

extern "C" {
/// Open MPI looks it up by this name.
__attribute__((visibility("default"))) extern mca_pml_base_component_t mca_pml_livebtl_component;
}

namespace livebtl::ompi {

/// Identifies us where processes publish their addresses.
inline const mca_base_component_t& component_version() noexcept {
  return mca_pml_livebtl_component.pmlm_version;
}

}  // namespace livebtl::ompi
