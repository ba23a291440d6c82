// SPDX-License-Identifier: BSD-3-Clause
// base/process_files.h -- the files that a process makes in its job's directory: one table for who
// makes them and who tidies up.
#pragma once

#include <string>
#include <string_view>

#include "livebtl/types.h"

namespace livebtl {

// Behind the process's name, sixteen hexadecimal digits.
inline constexpr std::string_view kCardFile = ".lock";         // control/place/member_file.h
inline constexpr std::string_view kNewCardFile = ".lock.new";  // ... before it has its name
inline constexpr std::string_view kGoneFile = ".gone";         // ... after its process
inline constexpr std::string_view kControlSocket = ".ctl";     // control/agent/mailroom.h
inline constexpr std::string_view kHiddenSocket = ".ctl.off";  // ... while nobody may connect
inline constexpr std::string_view kMemorySocket = ".sm";       // transports/sm/sm_socket.h
inline constexpr std::string_view kProcessFiles[] = {kCardFile,      kNewCardFile,  kGoneFile,
                                                     kControlSocket, kHiddenSocket, kMemorySocket};

/// process_file(ProcessId{0x2a}, kCardFile): "000000000000002a.lock".
std::string process_file(ProcessId process, std::string_view kind);

}  // namespace livebtl
