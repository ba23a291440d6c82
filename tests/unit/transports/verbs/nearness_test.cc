// SPDX-License-Identifier: BSD-3-Clause
// Which ports the kernel shows, and how far devices are from a process, with a directory in place
// of /sys.
#include "transports/verbs/verbs_nearness.h"

#include "tests/unit/transports/verbs/system_files.h"

using namespace livebtl::verbs;
using livebtl::test::SystemFiles;

TEST_CASE("ports are listed with their state, in the order of their devices' numbers") {
  SystemFiles files;
  CHECK(listed_ports(files.path).empty());
  for (const char* device : {"mlx5_10", "mlx5_2"}) files.add_port(device, 1, true);
  files.add_port("mlx5_2", 2, false);
  files.add_port("iwarp0", 1, true);
  files.write("class/infiniband/iwarp0/node_type", "4: RNIC");
  files.write("class/infiniband/mlx5_2/ports/x/state", "4: ACTIVE");
  const auto ports = listed_ports(files.path);
  REQUIRE(ports.size() == 3);
  CHECK(ports[0].device == "mlx5_2");
  CHECK(ports[0].port == 1);
  CHECK(ports[0].active);
  CHECK(ports[1].port == 2);
  CHECK(!ports[1].active);
  CHECK(ports[2].device == "mlx5_10");
}

TEST_CASE("a device is as far as its node is from the nearest one that the process is bound to") {
  SystemFiles files;
  files.add_node(0, "0-3,8", "10 21 31");
  files.add_node(2, "4-7", "21 10 40");
  files.add_node(3, "", "31 40 10");  // memory only
  for (const char* device : {"here0", "there0", "far0", "unknown0"})
    files.add_port(device, 1, true);
  files.set_node("here0", "0");
  files.set_node("there0", "2");
  files.set_node("far0", "3");
  files.set_node("unknown0", "-1");
  CHECK(distance_of(files.path, "here0", {8}) == 10);
  CHECK(distance_of(files.path, "there0", {2}) == 21);
  CHECK(distance_of(files.path, "there0", {5}) == 10);
  CHECK(distance_of(files.path, "there0", {0, 6}) == 10);
  CHECK(distance_of(files.path, "far0", {6}) == 40);
  CHECK(distance_of(files.path, "far0", {0, 6}) == 31);
  CHECK(distance_of(files.path, "unknown0", {0}) == 10);
  CHECK(distance_of(files.path, "none0", {0}) == 10);
  CHECK(distance_of(files.path, "there0", {99}) == 10);
}

TEST_CASE("files that say nonsense tell nothing") {
  SystemFiles files;
  files.add_node(0, "x-,-3,9-", "ten");
  files.add_node(1, "0", "300 999");
  files.add_port("card0", 1, true);
  files.set_node("card0", "0");
  CHECK(distance_of(files.path, "card0", {3, 9}) == 10);
  CHECK(distance_of(files.path, "card0", {0}) == 255);
  files.set_node("card0", "one");
  CHECK(distance_of(files.path, "card0", {0}) == 10);
}

TEST_CASE("a process runs somewhere") { CHECK(!bound_processors().empty()); }
