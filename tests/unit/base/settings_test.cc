// SPDX-License-Identifier: BSD-3-Clause
// Settings from text: the table is complete, both spellings are read, and malformed values are
// refused by name.
#include "base/settings.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "captured_stderr.h"

using namespace livebtl;

namespace {

Result<Settings> read(const std::map<std::string, std::string>& variables) {
  return read_settings([&](std::string_view variable) -> std::optional<std::string> {
    const auto found = variables.find(std::string(variable));
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

bool takes(std::string_view name, std::string_view value) {
  const auto settings = read({{"LIVEBTL_" + std::string(name), std::string(value)}});
  if (!settings) CHECK(settings.error().code == Errc::kInvalid);
  return settings.has_value();
}

}  // namespace

TEST_CASE("an empty environment gives the defaults, which are those in the table") {
  const auto settings = read({});
  REQUIRE(settings);
  CHECK(settings->window_bytes == 1u << 20);
  for (const SettingInfo& info : setting_table()) {
    INFO(info.name);
    CHECK(takes(info.name, info.fallback));
    CHECK_FALSE(info.meaning.empty());
  }
}

TEST_CASE("every name in the table is there once") {
  std::set<std::string_view> names;
  for (const SettingInfo& info : setting_table()) names.insert(info.name);
  CHECK(names.size() == setting_table().size());
  CHECK(names.size() == 34);
}

TEST_CASE("values arrive in their fields") {
  const auto settings = read({{"LIVEBTL_JOB", "job.1_a-b"},
                              {"LIVEBTL_SIZE", "8"},
                              {"LIVEBTL_TRANSPORTS", "sm,tcp"},
                              {"LIVEBTL_EXCLUDE", "vader"},
                              {"LIVEBTL_TCP_IF", "eth0,10.0.0.0/8,fd00::/8"},
                              {"LIVEBTL_TCP_PORT", "65535"},
                              {"LIVEBTL_TAKEOVER", "off"},
                              {"LIVEBTL_RETURN", "off"},
                              {"LIVEBTL_SM_SINGLE_COPY", "none"},
                              {"LIVEBTL_BOX_AFTER", "0"},
                              {"LIVEBTL_BOXES", "7"},
                              {"LIVEBTL_AUTH", "none"},
                              {"LIVEBTL_CRC", "always"},
                              {"LIVEBTL_WINDOW_BYTES", "2M"},
                              {"LIVEBTL_SECRET_FD", "7"},
                              {"LIVEBTL_RUNDIR", "/run/x"},
                              {"LIVEBTL_LOG", "debug"}});
  REQUIRE(settings);
  CHECK_FALSE(settings->takeover);
  CHECK_FALSE(settings->returns);
  CHECK(settings->sm_single_copy == SingleCopy::kNone);
  CHECK(settings->box_after == 0);
  CHECK(settings->boxes_max == 7);
  CHECK(settings->job == "job.1_a-b");
  CHECK(settings->size == 8);
  CHECK(settings->transports == std::vector<std::string>{"sm", "tcp"});
  CHECK_FALSE(settings->transports_beside_default);
  CHECK(settings->exclude == std::vector<std::string>{"vader"});
  CHECK(settings->tcp_if == std::vector<std::string>{"eth0", "10.0.0.0/8", "fd00::/8"});
  CHECK(settings->tcp_port == 65535);
  CHECK(settings->auth == AuthLevel::kNone);
  CHECK(settings->crc == CrcMode::kAlways);
  CHECK(settings->window_bytes == 2u << 20);
  CHECK(settings->secret_fd == 7);
  CHECK(settings->rundir == "/run/x");
  CHECK(settings->log_level == LogLevel::kDebug);
}

TEST_CASE("the second spelling counts if the first is not set or empty") {
  CHECK(read({{"FI_LIVEBTL_SIZE", "3"}})->size == 3);
  CHECK(read({{"LIVEBTL_SIZE", "2"}, {"FI_LIVEBTL_SIZE", "3"}})->size == 2);
  CHECK(read({{"LIVEBTL_SIZE", ""}, {"FI_LIVEBTL_SIZE", "3"}})->size == 3);
}

TEST_CASE("an error names the variable as it was spelled, the value and what it takes") {
  const auto settings = read({{"FI_LIVEBTL_CRC", "sometimes"}});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().code == Errc::kInvalid);
  CHECK(settings.error().text ==
        "FI_LIVEBTL_CRC cannot be \"sometimes\": it takes one of: network always never");
}

TEST_CASE("what is secret is not said again, and is whole") {
  const std::string seed(64, 'a');
  CHECK(read({{"LIVEBTL_SEED", seed}})->seed == seed);
  const auto cut = read({{"LIVEBTL_SEED", seed.substr(1)}});
  REQUIRE_FALSE(cut);
  CHECK(cut.error().text.starts_with("LIVEBTL_SEED cannot be what it is: it takes 64 hexadecimal"));
  CHECK_FALSE(takes("SEED", seed.substr(1) + "g"));
  CHECK_FALSE(takes("SEED", seed + "a"));
}

TEST_CASE("transports may be named beside those that are used anyhow: then all are") {
  const auto settings = read({{"LIVEBTL_TRANSPORTS", "+verbs,+ofi:shm"}});
  REQUIRE(settings);
  CHECK(settings->transports == std::vector<std::string>{"verbs", "ofi:shm"});
  CHECK(settings->transports_beside_default);
  for (const char* bad : {"+verbs,sm", "sm,+verbs", "+", "+verbs,", "++verbs"})
    CHECK_FALSE(takes("TRANSPORTS", bad));
  CHECK_FALSE(takes("EXCLUDE", "+verbs"));
}

TEST_CASE("numbers: whole, in range, nothing behind them") {
  CHECK(takes("SIZE", "1048576"));
  for (const char* bad : {"-1", "1048577", "1x", " 1", "1 ", "0x10", "+1", "99999999999999999999"})
    CHECK_FALSE(takes("SIZE", bad));
  CHECK(takes("SECRET_FD", "-1"));
  CHECK_FALSE(takes("SECRET_FD", "-2"));
  CHECK_FALSE(takes("TCP_PORT", "65536"));
}

TEST_CASE("bytes: with or without a unit, in range") {
  for (const char* good : {"65536", "64K", "1M", "1G", "1073741824"})
    CHECK(takes("WINDOW_BYTES", good));
  for (const char* bad : {"65535", "63K", "2G", "1T", "K", "1KK", "1k", "4294967295G", "-1M"})
    CHECK_FALSE(takes("WINDOW_BYTES", bad));
}

TEST_CASE("names and lists cannot escape into paths or hold nothing") {
  for (const char* bad : {"../x", "a/b", ".hidden", "a b", "a\nb"}) {
    CHECK_FALSE(takes("JOB", bad));
    CHECK_FALSE(takes("NODE", bad));
  }
  CHECK_FALSE(takes("JOB", std::string(65, 'a')));
  CHECK(takes("JOB", std::string(64, 'a')));
  for (const char* bad : {",", "sm,", ",sm", "sm,,tcp", "SM", "a_very_long_transport", "sm tcp"})
    CHECK_FALSE((takes("TRANSPORTS", bad) || takes("EXCLUDE", bad)));
  CHECK_FALSE(takes("TCP_IF", "eth0;rm"));
  CHECK_FALSE(takes("RUNDIR", "relative/path"));
  CHECK_FALSE(takes("RUNDIR", std::string_view("/a\0b", 4)));
}

TEST_CASE("unknown variables of ours are warned of, known and foreign ones are not") {
  CHECK_FALSE(unknown_setting_warning("LIVEBTL_JOB"));
  CHECK_FALSE(unknown_setting_warning("FI_LIVEBTL_JOB"));
  CHECK_FALSE(unknown_setting_warning("LIVEBTL_USER"));  // belongs to btlctl
  CHECK_FALSE(unknown_setting_warning("FI_PROVIDER"));
  const auto warning = unknown_setting_warning("FI_LIVEBTL_TRANSPORT");
  REQUIRE(warning);
  CHECK(warning->find("did you mean FI_LIVEBTL_TRANSPORTS?") != std::string::npos);
}

TEST_CASE("the process's environment is read, with warnings") {
  ::setenv("LIVEBTL_SIZE", "5", 1);
  ::setenv("LIVEBTL_SIZ", "6", 1);
  std::uint32_t size = 0;
  const std::string text = test::captured_stderr([&] {
    const auto settings = read_settings_from_environment();
    if (settings) size = settings->size;
  });
  ::unsetenv("LIVEBTL_SIZE");
  ::unsetenv("LIVEBTL_SIZ");
  CHECK(size == 5);
  CHECK(text.find("did you mean LIVEBTL_SIZE?") != std::string::npos);
}
