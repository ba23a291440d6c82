// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/settings_test.cc -- livebtl-watchd's settings: what is accepted or refused.
#include "watchd/settings.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

Result<Settings> read(const std::string& text) {
  const auto assignments = parse_config(text, "watchd.conf");
  REQUIRE(assignments);
  return read_watchd_settings(*assignments);
}

}  // namespace

TEST_CASE("what stands in the file is in force") {
  const auto settings = read(
      "SOURCES = azure slurm\nNODE = n1\nBTLCTL = sudo -n /usr/bin/btlctl\nlead_s = 30\nPOLL_S=2\n"
      "KINDS = freeze drain\nACKNOWLEDGE = all\nAZURE_URL = http://127.0.0.1:80\nTRANSPORTS = "
      "verbs ofi:tcp;ofi_rxm\n"
      "CONNECT = h:1\nSECRET_FILE = /s\n");
  REQUIRE(settings);
  CHECK(settings->sources == std::vector<std::string>{"azure", "slurm"});
  CHECK(settings->btlctl == std::vector<std::string>{"sudo", "-n", "/usr/bin/btlctl"});
  CHECK(settings->transports == std::vector<std::string>{"verbs", "ofi:tcp;ofi_rxm"});
  CHECK(settings->policy.lead == 30 * kSecond);
  CHECK(settings->poll == 2 * kSecond);
  CHECK(settings->policy.kinds[static_cast<std::size_t>(Kind::kDrain)]);
  CHECK(!settings->policy.kinds[static_cast<std::size_t>(Kind::kReboot)]);
  CHECK(settings->policy.acknowledges);
  CHECK(!settings->alone_acknowledges);
}

TEST_CASE("what cannot be meant is refused, and named") {
  for (const char* line :
       {"SOURCES = azure azure", "SOURCES = aws", "NODE = a b", "NODE = -x", "LEAD_S = 4",
        "LEAD_S = 1.5", "POLL_S = 0", "KINDS = frost", "ACKNOWLEDGE = yes", "AZURE_URL = https://x",
        "AZURE_URL = http://x/y", "AZURE_URL = http://", "BTLCTL =", "TRANSPORTS = --scope",
        "TRANSPORTS = ofi:a$b", "TRANSPORTS = a;b", "TRANSPORTS = a b c d e", "CONNECT = h:1",
        "COLOUR = red"}) {
    CAPTURE(line);
    const auto settings = read(line);
    REQUIRE(!settings);
    CHECK(settings.error().text.find(std::string(line).substr(0, 4)) != std::string::npos);
  }
}

TEST_CASE(
    "a job elsewhere is not ordered by the script that lets this machine's jobs through alone") {
  const std::string elsewhere = "SOURCES = file\nCONNECT = h:1\nSECRET_FILE = /s\n";
  CHECK(read(elsewhere));
  const auto settings = read(elsewhere + "BTLCTL = sudo -n /usr/libexec/livebtl/watchd-btlctl\n");
  REQUIRE(!settings);
  CHECK(settings.error().text.find("CONNECT does not go with BTLCTL") != std::string::npos);
}
