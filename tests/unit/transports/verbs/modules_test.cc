// SPDX-License-Identifier: BSD-3-Clause
// Which verbs transports a process has for each LIVEBTL_VERBS_DEVICE, and their names.
#include "tests/unit/transports/verbs/system_files.h"
#include "transports/verbs/verbs_transport.h"

using namespace livebtl;
using livebtl::test::SystemFiles;
using Names = std::vector<std::string>;

namespace {

Names names_of(const std::string& devices, const std::string& files = "/nonexistent",
               std::size_t kinds_max = 4) {
  const auto kinds = verbs::verbs_kinds(devices, kinds_max, files);
  REQUIRE(kinds.has_value());
  Names names;
  for (const core::TransportKind& kind : *kinds) {
    CHECK(kind.on_request);
    CHECK(kind.bound_to_device);
    CHECK(kind.exclusivity == verbs::verbs_kind().exclusivity);
    names.push_back(kind.name);
  }
  return names;
}

}  // namespace

TEST_CASE("none or one device: verbs, as ever") {
  for (const char* devices : {"", "mlx5_0", "mlx5_0:1:3"}) {
    CHECK(names_of(devices) == Names{"verbs"});
    CHECK(verbs::verbs_kinds(devices, 4)->front().alias == "openib");
  }
}

TEST_CASE(
    "several devices are a transport each, in the list's order; no more than there is room for") {
  CHECK(names_of("mlx5_1,mlx5_0") == Names{"verbs:mlx5_1", "verbs:mlx5_0"});
  CHECK(names_of("mlx4_0:1,mlx4_0:2") == Names{"verbs:mlx4_0:1", "verbs:mlx4_0:2"});
  CHECK(names_of("rail=mlx5_3") == Names{"verbs:rail"});
  CHECK(names_of("a,b,c,d,e", "", 2) == Names{"verbs:a", "verbs:b"});
  CHECK(verbs::verbs_kinds("a,b", 4)->front().alias.empty());
}

TEST_CASE("auto: all active ports; all there are if none is active; verbs if there is none") {
  SystemFiles files;
  CHECK(names_of("auto", files.path) == Names{"verbs"});
  files.add_port("mlx5_0", 1, false);
  files.add_port("mlx4_0", 1, false);
  files.add_port("mlx4_0", 2, false);
  CHECK(names_of("auto", files.path) == Names{"verbs:mlx4_0:1", "verbs:mlx4_0:2", "verbs:mlx5_0"});
  files.add_port("mlx4_0", 2, true);
  CHECK(names_of("auto", files.path) == Names{"verbs:mlx4_0:2"});
  files.add_port("mlx5_0", 1, true);
  CHECK(names_of("auto", files.path) == Names{"verbs:mlx4_0:2", "verbs:mlx5_0"});
}

TEST_CASE("a module is asked for by name, whether the list has it or not") {
  const auto named = [](const char* name, const char* devices) {
    return verbs::verbs_kind_named(name, devices, "/nonexistent");
  };
  CHECK(named("verbs:mlx5_1", "mlx5_0,mlx5_1")->name == "verbs:mlx5_1");
  CHECK(named("verbs:mlx5_1", "")->name == "verbs:mlx5_1");
  CHECK(named("verbs:mlx4_0:2", "")->name == "verbs:mlx4_0:2");
  CHECK(!named("verbs:auto", "").has_value());
  CHECK(!named("verbs:mlx5_1:0", "").has_value());
  CHECK(!named("verbs:mlx5_1", "mlx5_0,").has_value());
}

TEST_CASE("a list that nobody can mean is refused, and the entry named") {
  const auto kinds = verbs::verbs_kinds("mlx5_0,mlx5_1:0", 4);
  REQUIRE(!kinds.has_value());
  CHECK(kinds.error().code == Errc::kInvalid);
  CHECK(kinds.error().text.find("LIVEBTL_VERBS_DEVICE: 'mlx5_1:0'") != std::string::npos);
}
