// SPDX-License-Identifier: BSD-3-Clause
// perf/report.h -- what people read (table, bars) and what programs read (one JSON document). Pure.
#pragma once

#include <string>

#include "base/exit_code.h"
#include "perf/result.h"

namespace livebtl::perf {

/// What is measured and how, and the titles of the columns.
std::string table_head(const Line& line, double clock_ns);
/// A line of the table, for a figure; if through switches, a second one about these.
std::string table_row(const Line& line, const Figure& figure);
/// The distribution as bars, a line for each range of times.
std::string histogram_text(const Line& line, const Figure& figure);

/// One line: success.
std::string json_text(const Results& results);
/// One line: what would be measured.
std::string json_plan(const Line& line, const std::string& text);
/// One line: failure.
std::string json_failure(ExitCode code, const std::string& text);

}  // namespace livebtl::perf
