// SPDX-License-Identifier: BSD-3-Clause
// Error codes have distinct names, and foreign numbers that are no code do not crash.
#include <doctest/doctest.h>
#include <livebtl/result.h>

#include <set>
#include <string>

using namespace livebtl;

TEST_CASE("every code has a name of its own") {
  std::set<std::string> names;
  const int count = static_cast<int>(Errc::kBadKey) + 1;
  for (int code = 0; code < count; ++code) names.insert(errc_name(static_cast<Errc>(code)));
  CHECK(names.size() == static_cast<std::size_t>(count));
  CHECK(names.count("unknown") == 0);
  CHECK(std::string(errc_name(Errc::kPeerLost)) == "peer_lost");
}

TEST_CASE("a number that is no code is called unknown") {
  CHECK(std::string(errc_name(static_cast<Errc>(200))) == "unknown");
}

TEST_CASE("fail makes a result that holds code and text") {
  const Status status = fail(Errc::kTimeout, "nobody answered");
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Errc::kTimeout);
  CHECK(status.error().text == "nobody answered");
}
