// SPDX-License-Identifier: BSD-3-Clause
// Settings files: what a line may be, whose files are read, and what takes precedence.
#include "base/config_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/process_settings.h"
#include "captured_stderr.h"

using namespace livebtl;

namespace {

/// A directory with settings files, removed at the end.
class Files {
 public:
  Files() {
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
    REQUIRE(::setenv("XDG_CONFIG_HOME", directory_.c_str(), 1) == 0);
  }
  ~Files() {
    ::unsetenv("XDG_CONFIG_HOME");
    std::filesystem::remove_all(directory_);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }

 private:
  std::string directory_ = "/tmp/lb-config-XXXXXX";
};

Error refused(const std::string& text) {
  const auto parsed = parse_config(text, "FILE");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().text.starts_with("FILE"));
  return parsed.error();
}

bool says(const Error& error, const char* part) {
  return error.text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a line is a name and a value; names in any case, comments and empty lines") {
  const auto parsed = parse_config(
      "# all\n\ntransports = sm,tcp\nTCP_IF=eth0\n; and\nofi_provider = tcp;ofi_rxm ; x\n", "FILE");
  REQUIRE(parsed);
  REQUIRE(parsed->size() == 3);
  CHECK((*parsed)[0].name == "TRANSPORTS");
  CHECK((*parsed)[0].value == "sm,tcp");
  CHECK((*parsed)[1].value == "eth0");
  CHECK((*parsed)[2].value == "tcp;ofi_rxm");
  CHECK((*parsed)[2].path == "FILE");
}

TEST_CASE("what is no such line is refused with its number and what to do") {
  CHECK(says(refused("crc = never\nnonsense\n"), "FILE:2: a line is NAME = VALUE"));
  CHECK(says(refused("[site]\ncrc = never\n"), "FILE:2: there are no sections"));
  CHECK(says(refused("crc = never\nCRC = always\n"), "FILE:2: CRC is set twice"));
  CHECK(says(refused("transports = sm,\n  tcp\n"), "FILE:2: TRANSPORTS is set twice"));
  CHECK(says(refused("size = 4\n"), "give it as LIVEBTL_SIZE"));
  CHECK(says(refused("job = x\n"), "give it as LIVEBTL_JOB"));
  CHECK(says(refused("secret_fd = 3\n"), "give it as LIVEBTL_SECRET_FD"));
  CHECK(says(refused("tcp_if = " + std::string(300, 'x') + "\n"), "less than 200 bytes"));
  CHECK(says(refused(std::string("crc = never\0\n", 13)), "zero byte"));
}

TEST_CASE("a file that is not there is none; others' files, and what is no file, are refused") {
  const Files files;
  const auto none = read_config_file(files.path("none"));
  REQUIRE(none);
  CHECK(none->empty());
  CHECK(read_config_file(files.put("good", "crc = never\n")));
  const auto open = read_config_file(files.put("open", "crc = never\n", 0666));
  REQUIRE_FALSE(open);
  CHECK(open.error().code == Errc::kAuth);
  CHECK(says(open.error(), "chmod go-w"));
  const auto directory = read_config_file(files.path("."));
  REQUIRE_FALSE(directory);
  CHECK(says(directory.error(), "no plain file"));
  const auto large = read_config_file(files.put("large", std::string(70'000, '#')));
  REQUIRE_FALSE(large);
  CHECK(says(large.error(), "longer than 65536"));
  if (::geteuid() != 0) return;
  REQUIRE(::chown(files.put("foreign", "crc = never\n").c_str(), 12345, 12345) == 0);
  const auto foreign = read_config_file(files.path("foreign"));
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().code == Errc::kAuth);
  CHECK(says(foreign.error(), "belongs to another user"));
}

TEST_CASE("the environment counts more than the user's file, and that more than the site's") {
  const Files files;
  const std::vector<std::string> paths{
      files.put("site", "tcp_port = 1\nwindow_bytes = 128K\ncrc = never\nboxes =\n"),
      files.put("user", "tcp_port = 2\nwindow_bytes = 256K\n")};
  ::setenv("FI_LIVEBTL_TCP_PORT", "3", 1);
  const auto settings = read_process_settings(paths);
  ::unsetenv("FI_LIVEBTL_TCP_PORT");
  REQUIRE(settings);
  CHECK(settings->tcp_port == 3);
  CHECK(settings->window_bytes == 256u << 10);
  CHECK(settings->crc == CrcMode::kNever);
  CHECK(settings->boxes_max == Settings{}.boxes_max);  // set to the empty string
}

TEST_CASE("each setting is said to be from where its value is") {
  const std::vector<Assignment> files{{"TCP_PORT", "1", "SITE"},
                                      {"CRC", "never", "SITE"},
                                      {"BOXES", "", "SITE"},
                                      {"CRC", "always", "USER"}};
  ::setenv("LIVEBTL_TCP_PORT", "3", 1);
  for (const SettingInfo& setting : setting_table()) {
    const SettingOrigin origin = origin_of(setting, files);
    CAPTURE(setting.name);
    if (setting.name == "TCP_PORT") {
      CHECK(origin.from == "LIVEBTL_TCP_PORT");
      CHECK(origin.value == "3");
    } else if (setting.name == "CRC") {
      CHECK(origin.from == "USER");
      CHECK(origin.value == "always");
    } else {
      CHECK(origin.from == "default");
      CHECK(origin.value == setting.fallback);
    }
  }
  ::unsetenv("LIVEBTL_TCP_PORT");
}

TEST_CASE("a run directory is named by a variable, in either spelling, else by a file") {
  const Files files;
  const std::vector<std::string> paths{files.put("site", "rundir = /site\n"),
                                       files.put("user", "RUNDIR = /user\n")};
  const auto named = [&paths] { return origin_of_run_directory(paths).value_or(SettingOrigin{}); };
  CHECK(named().value == "/user");
  CHECK(named().from == paths[1]);
  CHECK(origin_of_run_directory({paths[0]})->value == "/site");
  CHECK(origin_of_run_directory({files.path("none")})->value.empty());
  CHECK_FALSE(origin_of_run_directory({files.put("open", "rundir = /open\n", 0666)}));
  ::setenv("FI_LIVEBTL_RUNDIR", "/second", 1);
  CHECK(named().value == "/second");
  ::setenv("LIVEBTL_RUNDIR", "/first", 1);
  CHECK(named().value == "/first");
  CHECK(named().from == "LIVEBTL_RUNDIR");
  ::unsetenv("LIVEBTL_RUNDIR");
  ::unsetenv("FI_LIVEBTL_RUNDIR");
}

TEST_CASE("a wrong value names its file, an unknown name is warned of") {
  const Files files;
  const std::string wrong = files.put("wrong", "crc = sometimes\n");
  const auto settings = read_process_settings({wrong});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text ==
        wrong + ": CRC cannot be \"sometimes\": it takes one of: network always never");
  const std::string unknown = files.put("unknown", "transport = sm\n");
  const std::string text = test::captured_stderr([&] { CHECK(read_process_settings({unknown})); });
  CHECK(text.find("did you mean TRANSPORTS?") != std::string::npos);
}

TEST_CASE("the site's file is read first, then the user's") {
  const Files files;
  const auto paths = config_paths();
  REQUIRE(paths.size() == 2);
  CHECK(paths[0] == "/etc/livebtl/livebtl.conf");
  CHECK(paths[1] == files.path("livebtl.conf"));
  ::unsetenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  REQUIRE(home != nullptr);
  CHECK(config_paths().back() == std::string(home) + "/.config/livebtl.conf");
}

TEST_CASE("a variable's name in a file is told what it is called there") {
  const auto warning = [](const char* name) {
    return unknown_assignment_warning({name, "tcp", "/etc/livebtl/livebtl.conf"}).value_or("");
  };
  CHECK(warning("TRANSPORTS").empty());
  for (const char* name : {"LIVEBTL_TRANSPORTS", "EXPORT LIVEBTL_TRANSPORTS"})
    CHECK(warning(name).ends_with("has no effect; in a file it is TRANSPORTS"));
  CHECK(warning("LIVEBTL_TRANSPORT").find("is no setting of livebtl") != std::string::npos);
}
