// SPDX-License-Identifier: BSD-3-Clause
// provider_test.cc -- which of libfabric's providers is chosen: never our own, even where the
// environment hides all others; and a request for a missing one is answered with those there are.
#include "transports/ofi/ofi_provider.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "tests/conformance/ofi_names.h"
#include "transports/ofi/ofi_transport.h"

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

int shown = 0;  // how often our own headed a list

/// libfabric's own list, with our provider moved to the front: it promises no order.
int ours_first(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
               const fi_info* hints, fi_info** found) {
  const int code = (*library())->getinfo(version, node, service, flags, hints, found);
  for (fi_info** at = found; code == 0 && *at != nullptr; at = &(*at)->next) {
    fi_info* const each = *at;
    if (std::strcmp(each->fabric_attr->prov_name, "livebtl") != 0) continue;
    *at = each->next;
    each->next = *found;
    *found = each;
    ++shown;
    break;
  }
  return code;
}

}  // namespace

// Runs in ofi_test_beside_ours; elsewhere it cannot be chosen.
TEST_CASE("our own is not chosen where libfabric offers it") {
  if (std::getenv("LIVEBTL_TEST_BESIDE_OURS") == nullptr) {
    MESSAGE("left to ofi_test_beside_ours");
    return;
  }
  Library offering = **library();
  offering.getinfo = ours_first;
  const auto info = choose_provider(offering, "", 40'000);
  REQUIRE(shown == 1);
  REQUIRE(info.has_value());
  REQUIRE(std::strstr((*info)->fabric_attr->prov_name, "livebtl") == nullptr);
  const Settings settings;
  core::NodeFacts facts;
  facts.settings = &settings;
  const auto transport = OfiTransport::make(facts, "", "ofi", {.library = &offering});
  REQUIRE_MESSAGE(transport.has_value(), transport.error().text);
  CHECK(shown == 2);
  CHECK((*transport)->domain().provider() == (*info)->fabric_attr->prov_name);
  const auto nothing = choose_provider(offering, "nothing", 40'000);
  REQUIRE(!nothing.has_value());
  CHECK(nothing.error().text.find("livebtl") == std::string::npos);
}

namespace {

/// Sets FI_OFI_RXM_USE_SRX while it lives; null: not set.
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
    CHECK(choose(conformance::kNetBelowRxm).has_value());
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
