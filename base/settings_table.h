// SPDX-License-Identifier: BSD-3-Clause
// base/settings_table.h -- one row a setting: what it is called, and how its text becomes a value.
// For settings.cc.
#pragma once

#include <span>

#include "base/settings.h"

namespace livebtl {

struct SettingEntry {
  SettingInfo info;
  /// Errors: kInvalid; the text says what the setting takes, not its name. On error nothing
  /// changes.
  Status (*set)(Settings& settings, std::string_view value);
};

std::span<const SettingEntry> setting_entries() noexcept;

}  // namespace livebtl
