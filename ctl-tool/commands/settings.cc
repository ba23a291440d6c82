// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/settings.cc -- settings: what the library can be told by the environment.
#include "base/settings.h"

#include "ctl-tool/command.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

ExitCode show_settings(const CommandLine& line, const std::atomic<bool>&) {
  Json list = Json::array();
  Table table({"SETTING", "TYPE", "DEFAULT", "MEANING"});
  for (const SettingInfo& setting : setting_table()) {
    const std::string name = "LIVEBTL_" + std::string(setting.name);
    table.add({name, std::string(setting.type),
               setting.fallback.empty() ? "-" : std::string(setting.fallback),
               std::string(setting.meaning)});
    list.push_back({{"name", name},
                    {"type", setting.type},
                    {"default", setting.fallback},
                    {"meaning", setting.meaning},
                    {"live", false}});  // of schema 1: none changes in a running job
  }
  print(line, {{"schema", "livebtl.settings/1"}, {"settings", std::move(list)}}, table);
  return ExitCode::kDone;
}

}  // namespace

const Command kSettings{
    .name = "settings",
    .summary = "List all settings",
    .detail =
        R"(Lists the settings of the library, which are given as LIVEBTL_NAME in the job's environment,
with type, default and meaning.

Example:
  btlctl settings)",
    .run = show_settings};

}  // namespace livebtl::tool
