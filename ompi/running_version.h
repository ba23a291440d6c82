// SPDX-License-Identifier: BSD-3-Clause
// ompi/running_version.h -- is the Open MPI that has loaded us the one that we were built for?
//
// A component shares structures with Open MPI whose layout no one promises to keep; in another
// version it would write where it must not. Threads: any.
#pragma once

#include "livebtl/result.h"

namespace livebtl::ompi {

/// Errors: kUnsupported (another version, or one that was configured differently).
Status check_running_version();

}  // namespace livebtl::ompi
