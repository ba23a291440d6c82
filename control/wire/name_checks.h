// SPDX-License-Identifier: BSD-3-Clause
// control/wire/name_checks.h -- which names messages may hold. Input is hostile. Pure.
#pragma once

#include <string>
#include <string_view>

#include "control/ladder/ladder_types.h"

namespace livebtl::control {

/// Letters, digits, '-', '_' and '.', at least one.
bool plain_name(std::string_view text, std::size_t bytes_max);
/// Has it the form of core::node_name()?
bool good_node(std::string_view name);
/// "", or what is wrong with the names of transports and nodes.
std::string check_names(const Routing& routing);

}  // namespace livebtl::control
