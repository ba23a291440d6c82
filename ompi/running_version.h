// SPDX-License-Identifier: BSD-3-Clause
// ompi/running_version.h -- is the Open MPI that has loaded us the one that we were built for?
//
// Nobody guarantees the layout of the structures that a component shares with Open MPI; in another
// version it would write where it must not. Threads: any.
#pragma once

#include "livebtl/result.h"

namespace livebtl::ompi {

/// Errors: kUnsupported (another version, or one that was configured differently).
Status check_running_version();

}  // namespace livebtl::ompi
