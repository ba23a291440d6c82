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
/// The document with --json, else the table.
void print(const CommandLine& line, const Json& document, const Table& table);
void complain(const std::string& text);  // stderr: "btlctl: ..."

/// For a command that ended before it could begin, or without an outcome: says why and returns its
/// exit code. With --json also prints a document on stdout.
ExitCode end_early(const CommandLine& line, const NoJob& end);
/// Prints only the document.
void print_end(const CommandLine& line, const NoJob& end);

/// Prints what came of a command, for people (stdout if done, else stderr) or as a document.
void report(const CommandLine& line, const control::Outcome& outcome);
/// Keeps the first of "A - B (id)" and "B - A (id)", which the two ends of a pair report; others
/// stay.
std::vector<std::string> each_pair_once(const std::vector<std::string>& pairs);

/// A message as the JSON that goes over the wire, without its envelope's schema.
Json as_json(const control::Message& message);

std::string rank_text(int rank);

Json silent_json(const std::vector<control::MemberEntry>& silent);
/// Prints the members that did not answer; returns the exit code that follows.
ExitCode note_silent(const std::vector<control::MemberEntry>& silent,
                     const std::atomic<bool>& stop);

}  // namespace livebtl::tool
