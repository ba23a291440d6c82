// SPDX-License-Identifier: BSD-3-Clause
// Which devices LIVEBTL_VERBS_DEVICE names, the names of their transports, and what is refused.
#include "base/device_list.h"

#include <doctest/doctest.h>

#include "base/settings.h"
#include "tests/unit/says.h"

using namespace livebtl;
using Names = std::vector<std::string>;
using livebtl::test::says;

namespace {

Names names_of(const char* text) {
  const auto list = parse_device_list(text);
  REQUIRE(list.has_value());
  return module_names(*list);
}

std::string list_refusal(const std::string& text) {
  const auto list = parse_device_list(text);
  REQUIRE_MESSAGE(!list.has_value(), text);
  CHECK(list.error().code == Errc::kInvalid);
  return list.error().text;
}

}  // namespace

TEST_CASE("an entry names a device, its port and an address") {
  CHECK(parse_device_list("")->wishes.empty());
  const auto list = parse_device_list("mlx5_0,mlx5_1:2,rail2=mlx5_2:1:13");
  REQUIRE(list.has_value());
  REQUIRE(list->wishes.size() == 3);
  CHECK(list->wishes[0].device == "mlx5_0");
  CHECK(list->wishes[0].port == 0);
  CHECK(list->wishes[0].gid_index == -1);
  CHECK(list->wishes[1].port == 2);
  CHECK(list->wishes[2].device == "mlx5_2");
  CHECK(list->wishes[2].port == 1);
  CHECK(list->wishes[2].gid_index == 13);
  CHECK(!list->all_active);
  CHECK(parse_device_list("auto")->all_active);
}

TEST_CASE("one entry is verbs itself; several are called by device, port or name") {
  CHECK(names_of("mlx5_0:1:3") == Names{""});
  CHECK(names_of("fast=mlx5_0") == Names{"fast"});
  CHECK(names_of("mlx5_0,mlx5_1") == Names{"mlx5_0", "mlx5_1"});
  CHECK(names_of("mlx4_0:1,mlx4_0:2,mlx5_0:1") == Names{"mlx4_0:1", "mlx4_0:2", "mlx5_0"});
  CHECK(names_of("a=mlx4_0:1,mlx4_0:2") == Names{"a", "mlx4_0:2"});
}

TEST_CASE("a list that nobody can mean is refused, and the entry named") {
  for (const char* bad :
       {":1", "mlx5_0:", "mlx5_0:0", "mlx5_0:255", "mlx5_0:x", "mlx5_0:1:", "mlx5_0:1:256",
        "mlx5_0:1:-1", "mlx5_0:1:2:3", "a/b", "=mlx5_0", "a b=c", "a=", ","})
    CHECK(says(list_refusal(bad), "'"));
  CHECK(says(list_refusal("mlx5_0,mlx5_1:0"), "'mlx5_1:0' has a port"));
  CHECK(says(list_refusal("mlx5_0:1:300,mlx5_1"), "'mlx5_0:1:300' has an index"));
  CHECK(says(list_refusal("mlx5_0,mlx5_0"), "'mlx5_0' is there twice"));
  CHECK(says(list_refusal("mlx5_0:1,mlx5_0"), "twice"));
  CHECK(says(list_refusal("a=mlx5_0,a=mlx5_1"), "'a' is the name of two"));
  CHECK(says(list_refusal("mlx5_0,auto"), "'auto' stands alone"));
  CHECK(says(list_refusal("mlx5_0,"), "comma"));
  CHECK(says(list_refusal("mlx5_0,"), "as in mlx5_0,mlx5_1"));
  CHECK(says(list_refusal(std::string(30, 'x') + ",mlx5_0"), "NAME="));
}

TEST_CASE("the setting is checked when it is read") {
  const auto read = [](const char* value) {
    return read_settings([=](std::string_view name) {
      return name == "LIVEBTL_VERBS_DEVICE" ? std::optional<std::string>(value) : std::nullopt;
    });
  };
  CHECK(read("mlx5_0,mlx5_1")->verbs_device == "mlx5_0,mlx5_1");
  const auto refused = read("mlx5_0,mlx5_1:0");
  REQUIRE(!refused.has_value());
  CHECK(says(refused.error().text, "LIVEBTL_VERBS_DEVICE"));
  CHECK(says(refused.error().text, "'mlx5_1:0'"));
}
