// SPDX-License-Identifier: BSD-3-Clause
// One node or two? Every part that decides about sharing memory changes the hash; a name replaces
// them all.
#include "base/node_identity.h"

#include <doctest/doctest.h>

#include <set>

using namespace livebtl;

TEST_CASE("this process is on the same node as itself") {
  const auto one = node_identity("");
  const auto other = node_identity("");
  REQUIRE(one);
  REQUIRE(other);
  CHECK(*one == *other);
  CHECK(*one != 0);
}

TEST_CASE("the parts are those of this process") {
  const auto parts = read_node_parts();
  REQUIRE(parts);
  CHECK(parts->boot_id.size() == 36);
  CHECK(parts->pid_namespace != 0);
  CHECK(parts->user_namespace != 0);
  CHECK(parts->mount_namespace != 0);
}

TEST_CASE("each part alone makes another node") {
  const NodeParts parts{"boot", 1, 2, 3};
  const std::set<std::uint64_t> hashes{
      hash_node("", parts),
      hash_node("", {"boot2", 1, 2, 3}),
      hash_node("", {"boot", 9, 2, 3}),
      hash_node("", {"boot", 1, 9, 3}),
      hash_node("", {"boot", 1, 2, 9}),
      hash_node("", {"boot", 2, 1, 3}),
  };
  CHECK(hashes.size() == 6);
}

TEST_CASE("a name counts alone") {
  CHECK(hash_node("a", {"boot", 1, 2, 3}) == hash_node("a", {"other", 4, 5, 6}));
  CHECK(hash_node("a", {}) != hash_node("b", {}));
  CHECK(*node_identity("a") == hash_node("a", {}));
  CHECK(*node_identity("a") != *node_identity(""));
}
