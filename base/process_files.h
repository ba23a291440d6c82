// SPDX-License-Identifier: BSD-3-Clause
// base/process_files.h -- the files that a process makes in its job's directory: one table for the
// code that makes them and the code that removes those of a dead process.
#pragma once

#include <string>
#include <string_view>

#include "base/hex.h"
#include "livebtl/types.h"

namespace livebtl {

// The suffix after the process id, sixteen hexadecimal digits, in the file's name.
inline constexpr std::string_view kCardFile = ".lock";         // control/place/member_file.h
inline constexpr std::string_view kNewCardFile = ".lock.new";  // ... while it is written
inline constexpr std::string_view kGoneFile = ".gone";         // ... after its process has ended
inline constexpr std::string_view kPageFile = ".page";         // control/place/member_page.h
inline constexpr std::string_view kControlSocket = ".ctl";     // control/agent/router.h
inline constexpr std::string_view kMemorySocket = ".sm";       // transports/sm/sm_socket.h
// The suffix after a node's id, of the same form: control/wire/relay_talk.h.
inline constexpr std::string_view kRelaySocket = ".rly";
inline constexpr std::string_view kRelayInnerSocket = ".rin";
inline constexpr std::string_view kRelayLock = ".rlk";
inline constexpr std::string_view kRelayStartLock = ".rst";
inline constexpr std::string_view kProcessFiles[] = {
    kCardFile,     kNewCardFile, kGoneFile,         kPageFile,  kControlSocket,
    kMemorySocket, kRelaySocket, kRelayInnerSocket, kRelayLock, kRelayStartLock};

/// process_file(ProcessId{0x2a}, kCardFile): "000000000000002a.lock".
inline std::string process_file(ProcessId process, std::string_view kind) {
  return hex_digits(static_cast<std::uint64_t>(process), 16).append(kind);
}

}  // namespace livebtl
