// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_text.h -- what the pages of a node say, as metrics: OpenMetrics 1.0, or the older text format of
// Prometheus, which node_exporter's textfile collector reads. Pure.
//
// Labels are bounded: a user, a job, a rank or a process, one of at most eight transports. Pairs are never labels: a large
// job would have millions. No two samples have the same labels (metrics_labels.h).
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/pages.h"

namespace livebtl::tool {

enum class MetricsForm { kOpenMetrics, kPrometheus };

inline constexpr const char* kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const std::vector<Pages>& pages, MetricsForm form);

}  // namespace livebtl::tool
