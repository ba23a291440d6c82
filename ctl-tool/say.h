// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/say.h -- output: documents and tables on stdout, errors on stderr.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/wire/messages.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/command_line.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {

using Json = nlohmann::json;

void print(const std::string& text);    // stdout, as it is
void print_json(const Json& document);  // stdout, one line
/// The one or the other.
void print(const CommandLine& line, const Json& document, const Table& table);
void complain(const std::string& text);  // stderr: "btlctl: ..."

/// A command that ended before it could begin, or without an outcome: what is said, and its exit code.
/// With --json also a document on stdout.
ExitCode end_early(const CommandLine& line, const NoJob& end);
/// The document alone.
void print_end(const CommandLine& line, const NoJob& end);

/// What came of a command, for people (stdout if it is done, else stderr) or as a document.
void report(const CommandLine& line, const control::Outcome& outcome);
/// Of "A - B (id)" and "B - A (id)", which both ends of a pair have told, the first. Others as they are.
std::vector<std::string> each_pair_once(const std::vector<std::string>& pairs);

/// A message as the JSON that goes over the wire, without its envelope's schema.
Json as_json(const control::Message& message);

std::string rank_text(int rank);

Json silent_json(const std::vector<control::MemberEntry>& silent);
/// Names the members that did not answer; the exit code that follows from it.
ExitCode note_silent(const std::vector<control::MemberEntry>& silent,
                     const std::atomic<bool>& stop);

}  // namespace livebtl::tool
