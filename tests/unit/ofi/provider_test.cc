// SPDX-License-Identifier: BSD-3-Clause
// provider_test.cc -- which of libfabric's providers is taken: never our own, also where the
// environment hides all others, and who asks for what is not there is told what is.
#include "transports/ofi/ofi_provider.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

using namespace livebtl;
using namespace livebtl::ofi;

namespace {

Result<Info> choose(const std::string& name, std::size_t message_bytes = 40'000) {
  const auto found = library();
  REQUIRE(found.has_value());
  return choose_provider(**found, name, message_bytes);
}

}  // namespace

TEST_CASE("the one that is named is taken, and whether it leaves the node is known") {
  for (const char* name : {"tcp;ofi_rxm", "udp;ofi_rxd", "sockets", "shm"}) {
    CAPTURE(name);
    const auto info = choose(name);
    REQUIRE(info.has_value());
    CHECK(std::strcmp((*info)->fabric_attr->prov_name, name) == 0);
    CHECK(leaves_the_node(**info) == (std::strcmp(name, "shm") != 0));
  }
}

TEST_CASE("without a name, one that reaches other machines is") {
  const auto info = choose("");
  REQUIRE(info.has_value());
  CHECK(leaves_the_node(**info));
  CHECK(std::strstr((*info)->fabric_attr->prov_name, "livebtl") == nullptr);
}

TEST_CASE("our own is refused") {
  for (const char* name : {"livebtl", "livebtl;ofi_rxm"}) {
    const auto info = choose(name);
    REQUIRE(!info.has_value());
    CHECK(info.error().code == Errc::kInvalid);
  }
}

namespace {

/// FI_OFI_RXM_USE_SRX for as long as it lives; null: not set.
struct Shared {
  explicit Shared(const char* value) {
    value == nullptr ? ::unsetenv(kName) : ::setenv(kName, value, 1);
  }
  ~Shared() { ::unsetenv(kName); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  static constexpr const char* kName = "FI_OFI_RXM_USE_SRX";
};

void expect_refused(const std::string& provider) {
  const auto info = choose(provider);
  REQUIRE(!info.has_value());
  CHECK(info.error().code == Errc::kUnsupported);
  CHECK(info.error().text.find("FI_OFI_RXM_USE_SRX=1") != std::string::npos);
}

}  // namespace

TEST_CASE("a layer that crashes when a connection ends is refused with the setting that mends it") {
  for (const char* value : {"", "0", "off", "maybe"}) {
    CAPTURE(value);
    const Shared shared(value);
    expect_refused("net;ofi_rxm");
    expect_refused("tcp;ofi_rxm");
  }
  for (const char* value : {"1", "TRUE", "On"}) {
    CAPTURE(value);
    const Shared shared(value);
    CHECK(choose("net;ofi_rxm").has_value());
    CHECK(choose("tcp;ofi_rxm").has_value());
  }
  const Shared unset(nullptr);
  expect_refused("net;ofi_rxm");
  CHECK(choose("tcp;ofi_rxm").has_value());
}

TEST_CASE("what is not there, or cannot do it, is refused with what is there") {
  for (const auto& info : {choose("nothing"), choose("udp"), choose("tcp;ofi_rxm;odd")}) {
    REQUIRE(!info.has_value());
    CHECK(info.error().code == Errc::kNotFound);
    CHECK(info.error().text.find("tcp;ofi_rxm") != std::string::npos);
  }
}
