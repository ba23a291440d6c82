// SPDX-License-Identifier: BSD-3-Clause
// base/settings.h -- every setting of the library: one table, read once, checked, printable.
//
// LIVEBTL_NAME in the environment, or FI_LIVEBTL_NAME as a second spelling (LIVEBTL_NAME wins). An
// empty value counts as not set. Warns of unknown names, and suggests the nearest known one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <livebtl/result.h>

#include "base/log.h"
#include "base/single_copy.h"

namespace livebtl {

enum class AuthLevel : std::uint8_t { kNone, kAuth };
// kNetwork: not between processes of one node
enum class CrcMode : std::uint8_t { kNetwork, kAlways, kNever };

// Each member is the setting of that name in capitals, with its default; setting_table() says what
// it means.
struct Settings {
  std::string job;
  std::uint32_t size = 0;
  std::string rundir;
  int secret_fd = -1;
  std::string secret_file;
  std::string seed;
  std::vector<std::string> transports;     // the order means nothing
  bool transports_beside_default = false;  // +verbs: these in addition to the default ones
  std::vector<std::string> exclude;
  std::vector<std::string> tcp_if;
  std::uint16_t tcp_port = 0;
  std::string verbs_device;
  std::string ofi_provider;
  bool hide_devices = true;  // for provider/ only
  bool relay = false;        // auto: only in a job of several nodes
  std::string relay_path;
  std::string node;
  AuthLevel auth = AuthLevel::kAuth;
  CrcMode crc = CrcMode::kNetwork;
  std::uint32_t window_bytes = 1u << 20;
  std::uint32_t credit_bytes = 1u << 20;
  std::uint32_t credit_headers = 4096;
  std::uint64_t unexpected_bytes = 1u << 30;
  std::uint32_t operations_max = 65536;  // OPERATIONS
  std::uint32_t sm_ring_bytes = 256u << 10;
  SingleCopy sm_single_copy = SingleCopy::kAuto;
  std::uint32_t box_after = 16;
  std::uint32_t boxes_max = 32;
  std::uint32_t probe_ms = 2000;
  std::uint32_t dead_ms = 500;
  int linger_ms = -1;  // without limit
  std::uint32_t away_us = 1000;
  bool returns = true;  // RETURN
  bool takeover = true;
  LogLevel log_level = LogLevel::kWarn;  // LOG
};

struct SettingInfo {
  std::string_view name;      // without prefix
  std::string_view type;      // "bytes", "count", "list", "ms", ...; "secret": never shown
  std::string_view fallback;  // the default, as a user would write it
  std::string_view meaning;
  /// Errors: kInvalid; the text says what the setting takes but not its name; nothing has changed.
  Status (*set)(Settings& settings, std::string_view value);
};

/// All settings, in the order of the manual page.
std::span<const SettingInfo> setting_table() noexcept;

/// lookup: returns a variable's value, given its whole name. Errors: kInvalid, with the variable,
/// the value and what it takes.
Result<Settings> read_settings(
    const std::function<std::optional<std::string>(std::string_view)>& lookup);
/// From the process's environment; warns of unknown names.
Result<Settings> read_settings_from_environment();
/// The warning if `variable` looks like a setting, in either spelling, but is none.
std::optional<std::string> unknown_setting_warning(std::string_view variable);

}  // namespace livebtl
