// SPDX-License-Identifier: BSD-3-Clause
// perf/plot.h -- the results as a picture (SVG). Pure.
#pragma once

#include <string>

#include "perf/result.h"

namespace livebtl::perf {

/// Of one size: its times by percentile, a curve per transport and one through switches. Of
/// several: p50 and p99, of a stream MB/s, against the size.
std::string plot_of(const Results& results);

}  // namespace livebtl::perf
