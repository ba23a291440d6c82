// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_errors.h -- device errors in words that help. Pure, except that it reads
// this process's limits and its rights to a device's file.
#pragma once

#include <string>

#include "livebtl/result.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::verbs {

std::string errno_text(int error);
/// A device that could not be opened. Codes: kAuth, kSystem.
Error cannot_open(const ibv_device& device, int error);
/// "verbs: cannot create a completion queue: ...; what to do". what: "a completion queue".
Error cannot_make(const std::string& what, int error);
/// Memory that could not be registered.
Error cannot_register(std::size_t bytes, int error);
/// A send or receive that failed: why the connection is down.
Error explain(ibv_wc_status status, const std::string& connection);

}  // namespace livebtl::verbs
