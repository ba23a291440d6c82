// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/verbs_device_test.cc -- the suite on transports/verbs over this machine's
// devices (LIVEBTL_VERBS_DEVICE chooses one), with the installed libibverbs. If no port can be used
// it says why, and ctest counts it as skipped.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/conformance/conformance.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::conformance {

TEST_CASE("verbs conforms on a device of this machine") {
  Subject subject;
  subject.name = "verbs";
  subject.own_threads = true;
  subject.endpoints_many = 16;
  const auto settings = read_settings_from_environment();
  REQUIRE(settings.has_value());
  subject.make = [&settings](std::uint64_t process) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = process;
    facts.settings = &*settings;
    return verbs::verbs_kinds(settings->verbs_device, 1).value().front().make(facts);
  };
  const auto tried = subject.make(1);
  if (!tried) {
    std::printf("skipped: %s\n", tried.error().text.c_str());
    return;
  }
  run_conformance(subject);
}

}  // namespace livebtl::conformance
