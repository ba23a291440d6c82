// SPDX-License-Identifier: BSD-3-Clause
// control/wire/relay_talk.h -- what members and helpers of their node say to each other besides
// messages: notes, named in an envelope's `to`, where no route can look like them. Plain values.
//
// Over a member's one connection to its node's relay:
//   member -> relay  kHelloNote    body: process, newline, job's secret as in its file (or nothing)
//   relay -> member  kRelaysNote   body: the relay as route.h writes it
//                    kFailedNote   body: why it cannot relay, for people
// Over the connection from a takeover's helper to the member that started it:
//   helper -> member kFinisherNote body: empty at first; at last a kFinished... word, newline, text
#pragma once

#include <string>
#include <string_view>

#include "base/process_files.h"

namespace livebtl::control {

inline constexpr std::string_view kHelloNote = "!hello";
inline constexpr std::string_view kRelaysNote = "!relays";
inline constexpr std::string_view kFailedNote = "!failed";
inline constexpr std::string_view kFinisherNote = "!finisher";

inline constexpr std::string_view kFinishedDone = "done";
inline constexpr std::string_view kFinishedInVain = "in vain";
inline constexpr std::string_view kFinishedNotOurs = "not ours";

inline bool is_note(std::string_view to) noexcept { return to.starts_with('!'); }

/// Splits at the first newline.
inline std::pair<std::string_view, std::string_view> first_line(std::string_view text) noexcept {
  const auto end = std::min(text.find('\n'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

/// The files of a node's relay in the job's directory; node: its id.
inline std::string relay_file(const std::string& directory, std::uint64_t node,
                              std::string_view kind) {
  return directory + "/" + process_file(ProcessId{node}, kind);
}

}  // namespace livebtl::control
