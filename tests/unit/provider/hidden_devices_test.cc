// SPDX-License-Identifier: BSD-3-Clause
// In which processes libfabric's own verbs provider finds no device, and that it heeds this.
#include "provider/hidden_devices.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace livebtl;
using namespace livebtl::fi;

namespace {

bool hidden(const std::map<std::string, std::string>& variables,
            const std::vector<std::string>& files = {}) {
  const auto variable = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return devices_are_to_be_hidden(
      variable, [](const char*) { return std::string(); }, files);
}

struct SettingsFiles {
  SettingsFiles() { REQUIRE(::mkdtemp(directory.data()) != nullptr); }
  ~SettingsFiles() { std::filesystem::remove_all(directory); }
  SettingsFiles(const SettingsFiles&) = delete;
  SettingsFiles& operator=(const SettingsFiles&) = delete;

  [[nodiscard]] std::string written(const std::string& name, const char* text) const {
    std::string path = directory + "/" + name;
    std::ofstream(path) << text;
    REQUIRE(::chmod(path.c_str(), 0600) == 0);  // a file that others may write does not count
    return path;
  }

  std::string directory = "/tmp/livebtl-settings-XXXXXX";
};

}  // namespace

TEST_CASE("devices are hidden in the processes of a job that is to run over livebtl") {
  const std::string choice = "OMPI_MCA_opal_common_ofi_provider_include";
  CHECK(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "livebtl"}}));
  CHECK(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "tcp,livebtl"}}));
  CHECK(hidden({{"PMI_RANK", "0"}, {"FI_PROVIDER", "livebtl"}}));
  CHECK(hidden({{"PMI_RANK", "0"}, {"LIVEBTL_HIDE_DEVICES", "on"}}));
  CHECK(hidden({{"LIVEBTL_JOB", "pair"}}));
  CHECK(hidden({{"FI_LIVEBTL_JOB", "pair"}}));
}

TEST_CASE("and in no others") {
  const std::string choice = "OMPI_MCA_opal_common_ofi_provider_include";
  CHECK_FALSE(hidden({}));
  CHECK_FALSE(hidden({{"FI_PROVIDER", "livebtl"}}));  // fi_info
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}}));
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "verbs"}}));
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "livebtl2,not-livebtl"}}));
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "^livebtl"}}));
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", ""}, {choice, "livebtl"}}));
  for (const char* name : {"LIVEBTL_HIDE_DEVICES", "FI_LIVEBTL_HIDE_DEVICES"})
    CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}, {choice, "livebtl"}, {name, "off"}}));
  CHECK(hidden({{"LIVEBTL_JOB", "pair"},
                {"LIVEBTL_HIDE_DEVICES", "on"},
                {"FI_LIVEBTL_HIDE_DEVICES", "off"}}));
}

TEST_CASE("a file of settings leaves them their devices, where no variable says otherwise") {
  const SettingsFiles files;
  const std::string off = files.written("off", "hide_devices = off\n");
  const std::string on = files.written("on", "hide_devices = on\n");
  const std::string wrong = files.written("wrong", "[section]\nhide_devices = off\n");
  CHECK_FALSE(hidden({{"LIVEBTL_JOB", "pair"}}, {off}));
  CHECK_FALSE(hidden({{"PMI_RANK", "0"}, {"FI_PROVIDER", "livebtl"}}, {on, off}));
  CHECK(hidden({{"LIVEBTL_JOB", "pair"}}, {off, on}));
  CHECK(hidden({{"LIVEBTL_JOB", "pair"}, {"LIVEBTL_HIDE_DEVICES", "on"}}, {off}));
  CHECK(hidden({{"LIVEBTL_JOB", "pair"}}, {wrong}));     // the engine reports it when it starts
  CHECK_FALSE(hidden({{"PMIX_NAMESPACE", "1"}}, {on}));  // a job of another provider
}

TEST_CASE("libfabric and librdmacm, which this program is linked with, let themselves be told") {
  const Status done = hide_devices();
  CHECK_MESSAGE(done, done.error().text);
}
