// SPDX-License-Identifier: BSD-3-Clause
// base/settings.cc -- looks settings up by name: environment, second spelling, unknown names. The
// table and what each value may be are in settings_table.cc. Any thread; nothing is kept.
#include "base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/nearest.h"

namespace livebtl {
namespace {

constexpr std::string_view kPrefix = "LIVEBTL_";
constexpr std::string_view kSecondPrefix = "FI_LIVEBTL_";

std::string did_you_mean(std::string_view name, std::string_view prefix) {
  std::vector<std::string_view> names;
  for (const SettingInfo& info : setting_table()) names.push_back(info.name);
  const std::optional<std::string_view> near = nearest(name, names);
  return near ? "; did you mean " + std::string(prefix) + std::string(*near) + "?" : std::string();
}

// For values in messages: quoted and cut short. (log.cc replaces what would spoil a terminal.)
std::string in_quotes(std::string_view value) {
  constexpr std::size_t kShownMax = 80;
  return "\"" + std::string(value.substr(0, kShownMax)) +
         (value.size() > kShownMax ? "...\"" : "\"");
}

// Means nothing to the job's processes, but may well be in their environment.
constexpr std::string_view kOfBtlctl = "USER";

struct Found {
  std::string variable;
  std::string value;
};

// An empty variable counts as not set, since shells make it easy to leave one behind.
std::optional<Found> look_up(
    const std::function<std::optional<std::string>(std::string_view)>& lookup,
    std::string_view name) {
  for (const std::string_view prefix : {kPrefix, kSecondPrefix}) {
    std::string variable = std::string(prefix) + std::string(name);
    std::optional<std::string> value = lookup(variable);
    if (value && !value->empty()) return Found{std::move(variable), std::move(*value)};
  }
  return std::nullopt;
}

}  // namespace

Result<Settings> read_settings(
    const std::function<std::optional<std::string>(std::string_view)>& lookup) {
  Settings settings;
  for (const SettingInfo& setting : setting_table()) {
    const std::optional<Found> found = look_up(lookup, setting.name);
    if (!found) continue;
    if (const Status done = setting.set(settings, found->value); !done)
      return fail(Errc::kInvalid,
                  found->variable + " cannot be " +
                      (setting.type == "secret" ? "what it is" : in_quotes(found->value)) + ": " +
                      done.error().text);
  }
  return settings;
}

std::optional<std::string> unknown_setting_warning(std::string_view variable) {
  for (const std::string_view prefix : {kPrefix, kSecondPrefix}) {
    if (!variable.starts_with(prefix)) continue;
    const std::string_view name = variable.substr(prefix.size());
    const auto is_named = [name](const SettingInfo& setting) { return setting.name == name; };
    if (name == kOfBtlctl || std::ranges::any_of(setting_table(), is_named)) return std::nullopt;
    return in_quotes(variable) + " is no setting of livebtl and has no effect" +
           did_you_mean(name, prefix);
  }
  return std::nullopt;
}

Result<Settings> read_settings_from_environment() {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto warning = unknown_setting_warning(text.substr(0, text.find('=')));
    if (warning) log(LogLevel::kWarn, "settings", "%s", warning->c_str());
  }
  return read_settings([](std::string_view variable) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(variable).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace livebtl
