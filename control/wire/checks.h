// SPDX-License-Identifier: BSD-3-Clause
// control/wire/checks.h -- what a message must satisfy besides its form: valid names, nonzero ids,
// numbers that can be outbid. Pure; any thread. Internal to messages.cc.
#pragma once

#include <string>

#include "control/wire/messages.h"

namespace livebtl::control {

/// "", or what is wrong with a message whose fields have been read.
std::string check_message(const Message& message);

}  // namespace livebtl::control
