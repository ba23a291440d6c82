// SPDX-License-Identifier: BSD-3-Clause
// base/process_settings.cc -- see process_settings.h.
#include "base/process_settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/nearest.h"

namespace livebtl {
namespace {

constexpr std::string_view kFirstSpelling = "LIVEBTL_";
constexpr std::string_view kExported = "EXPORT ";  // in capitals, like the whole name
constexpr std::string_view kSecondSpelling = "FI_LIVEBTL_";

const SettingInfo* setting_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(setting_table(), name, &SettingInfo::name);
  return found == setting_table().end() ? nullptr : &*found;
}

/// An empty value counts as not set, here as in a file.
std::optional<std::string> variable_value(std::string_view variable) {
  const char* const value = std::getenv(std::string(variable).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

const Assignment* last_of(std::span<const Assignment> files, std::string_view name) noexcept {
  const Assignment* last = nullptr;
  for (const Assignment& each : files)
    if (each.name == name && !each.value.empty()) last = &each;
  return last;
}

std::string shown(std::string_view value) {
  constexpr std::size_t kShownMax = 80;
  return "\"" + std::string(value.substr(0, kShownMax)) +
         (value.size() > kShownMax ? "...\"" : "\"");
}

}  // namespace

Status check_assignments(std::span<const Assignment> files) {
  Settings scratch;
  for (const Assignment& each : files) {
    const SettingInfo* const setting = setting_named(each.name);
    if (setting == nullptr || each.value.empty()) continue;
    if (const Status done = setting->set(scratch, each.value); !done)
      return fail(Errc::kInvalid, each.path + ": " + each.name + " cannot be " + shown(each.value) +
                                      ": " + done.error().text);
  }
  return {};
}

std::optional<std::string> unknown_assignment_warning(const Assignment& assignment) {
  if (setting_named(assignment.name) != nullptr) return std::nullopt;
  std::string_view bare = assignment.name;
  if (bare.starts_with(kExported)) bare.remove_prefix(kExported.size());
  if (bare.starts_with(kFirstSpelling)) bare.remove_prefix(kFirstSpelling.size());
  if (bare.size() < assignment.name.size() && setting_named(bare) != nullptr)
    return assignment.path + ": " + shown(assignment.name) + " has no effect; in a file it is " +
           std::string(bare);
  std::vector<std::string_view> names;
  for (const SettingInfo& setting : setting_table()) names.push_back(setting.name);
  const auto near = nearest(assignment.name, names);
  return assignment.path + ": " + shown(assignment.name) +
         " is no setting of livebtl and has no effect" +
         (near ? "; did you mean " + std::string(*near) + "?" : "");
}

SettingOrigin origin_of(const SettingInfo& setting, std::span<const Assignment> files) {
  for (const std::string_view spelling : {kFirstSpelling, kSecondSpelling}) {
    const std::string variable = std::string(spelling) + std::string(setting.name);
    if (auto value = variable_value(variable)) return {std::move(*value), variable};
  }
  if (const Assignment* const last = last_of(files, setting.name)) return {last->value, last->path};
  return {std::string(setting.fallback), "default"};
}

Result<SettingOrigin> origin_of_run_directory(const std::vector<std::string>& paths) {
  const SettingInfo& setting = *setting_named("RUNDIR");
  SettingOrigin named = origin_of(setting, {});
  if (!named.value.empty()) return named;
  return read_config_files(paths).map(
      [&setting](const std::vector<Assignment>& files) { return origin_of(setting, files); });
}

Result<Settings> read_process_settings(const std::vector<std::string>& paths) {
  // Warns of unknown variables, and names a wrong one in the user's spelling.
  if (auto alone = read_settings_from_environment(); !alone) return alone;
  const auto files = read_config_files(paths);
  if (!files) return tl::unexpected(files.error());
  for (const Assignment& each : *files) {
    if (const auto warning = unknown_assignment_warning(each))
      log(LogLevel::kWarn, "settings", "%s", warning->c_str());
  }
  if (const Status good = check_assignments(*files); !good) return tl::unexpected(good.error());
  return read_settings([&files](std::string_view variable) -> std::optional<std::string> {
    if (auto value = variable_value(variable)) return value;
    if (!variable.starts_with(kSecondSpelling)) return std::nullopt;  // the second is asked next
    const Assignment* const last = last_of(*files, variable.substr(kSecondSpelling.size()));
    return last == nullptr ? std::nullopt : std::optional(last->value);
  });
}

}  // namespace livebtl
