// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/settings.cc -- settings: all that the library has, and their values here.
#include "base/process_settings.h"
#include "ctl-tool/command.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

std::string or_dash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

ExitCode show_settings(const CommandLine& line, const std::atomic<bool>&) {
  const auto files = read_config_files(config_paths());
  if (!files) return end_early(line, {ExitCode::kUsage, files.error().text});
  if (const Status good = check_assignments(*files); !good)
    return end_early(line, {ExitCode::kUsage, good.error().text});
  for (const Assignment& each : *files) {
    if (const auto warning = unknown_assignment_warning(each)) complain(*warning);
  }
  Json list = Json::array();
  Table table({"SETTING", "VALUE", "FROM", "TYPE", "DEFAULT", "MEANING"});
  for (const SettingInfo& setting : setting_table()) {
    const std::string name = "LIVEBTL_" + std::string(setting.name);
    SettingOrigin origin = origin_of(setting, *files);
    if (setting.type == "secret" && !origin.value.empty()) origin.value = "(hidden)";
    table.add({name, or_dash(origin.value), origin.from, std::string(setting.type),
               or_dash(setting.fallback), std::string(setting.meaning)});
    list.push_back({{"name", name},
                    {"value", origin.value},
                    {"from", origin.from},
                    {"type", setting.type},
                    {"default", setting.fallback},
                    {"meaning", setting.meaning},
                    {"live", false}});  // part of schema 1: none changes in a running job
  }
  print(line, {{"schema", "livebtl.settings/1"}, {"settings", std::move(list)}}, table);
  return ExitCode::kDone;
}

}  // namespace

const Command kSettings{
    .name = "settings",
    .summary = "Show the library's settings, and where each comes from",
    .detail =
        R"(Lists the library's settings with type, default and meaning, and the value that each has for a
process started here. The value comes from LIVEBTL_NAME in the environment, else from
~/.config/livebtl.conf, else from /etc/livebtl/livebtl.conf, else it is the default. A line of a
file is NAME = VALUE, with the name in any case and without LIVEBTL_.

Example:
  btlctl settings)",
    .run = show_settings};

}  // namespace livebtl::tool
