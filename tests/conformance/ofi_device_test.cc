// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_device_test.cc -- the suite on transports/ofi, and what direct users get of
// it, over the provider that LIVEBTL_OFI_PROVIDER names: for those that need a device. Without a
// name it says so, and ctest counts it as skipped.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/conformance/ofi_onesided.h"
#include "tests/conformance/ofi_subject.h"

namespace livebtl::conformance {
namespace {

std::string named() {
  const char* const name = std::getenv("LIVEBTL_OFI_PROVIDER");
  if (name == nullptr) std::printf("skipped: LIVEBTL_OFI_PROVIDER names no provider\n");
  return name == nullptr ? "" : name;
}

TEST_CASE("ofi conforms over a provider that is named") {
  const std::string name = named();
  if (name.empty()) return;
  Subject subject = ofi_subject(name, false);
  subject.endpoints_many = 16;
  run_conformance(subject);
}

TEST_CASE("one-sided over a provider that is named") {
  const std::string name = named();
  if (!name.empty()) run_onesided({name});
}

}  // namespace
}  // namespace livebtl::conformance
