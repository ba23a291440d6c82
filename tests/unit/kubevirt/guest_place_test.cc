// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/kubevirt/guest_place_test.cc -- which guest a document is about, and where its job is.
#include "kubevirt/guest_place.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

using namespace livebtl;
using namespace livebtl::kubevirt;

TEST_CASE("a guest is known by the name of its domain") {
  CHECK(domain_of(R"({"metadata":{"name":"vm1","namespace":"hpc"},"spec":{}})") == "hpc_vm1");
  for (const char* text :
       {"", "{", "[]", "{}", R"({"metadata":7})", R"({"metadata":{"name":"vm1"}})",
        R"({"metadata":{"name":"../vm1","namespace":"hpc"}})",
        R"({"metadata":{"name":"vm1","namespace":".."}})",
        R"({"metadata":{"name":"a b","namespace":"hpc"}})",
        R"({"metadata":{"name":"","namespace":"hpc"}})",
        R"({"metadata":{"name":"-v","namespace":"hpc"}})"})
    CHECK_MESSAGE(!domain_of(text), text);
  CHECK(!domain_of(std::string(5u << 20, ' ')));
  CHECK(!domain_of(std::string(100'000, '[')));
}

TEST_CASE(
    "a job's secret that is mounted by Kubernetes, behind links, is handed on as the file itself") {
  std::string folder = std::filesystem::temp_directory_path() / "livebtl-guests-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto top = std::filesystem::canonical(folder);
  std::filesystem::create_directory(top / "..2026");
  std::filesystem::create_directory_symlink("..2026", top / "..data");
  for (const char* name : {"g", "g.key"}) {
    std::ofstream(top / "..2026" / name) << "10.0.0.1:4\n" << folder << "/g.key\n";
    std::filesystem::create_symlink(std::string("..data/") + name, top / name);
  }
  const auto place = read_guest(folder, "g");
  REQUIRE(place);
  CHECK((*place)->secret_file == (top / "..2026" / "g.key").string());
  std::filesystem::remove_all(folder);
}

TEST_CASE("a guest's file names a relay with its secret, or an agent") {
  std::string folder = std::filesystem::temp_directory_path() / "livebtl-guests-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto read = [&folder](const std::string& text) {
    std::ofstream(folder + "/g") << text;
    return read_guest(folder, "g");
  };
  const auto relay = read("10.0.0.1:4\n/secret\nnode-7\n");
  REQUIRE(relay);
  CHECK((*relay)->relay == "10.0.0.1:4");
  CHECK((*relay)->secret_file == "/secret");
  CHECK((*relay)->node == "node-7");
  const auto agent = read("agent:/run/agent\n");
  REQUIRE(agent);
  CHECK((*agent)->agent == "/run/agent");
  CHECK((*agent)->node.empty());
  for (const char* text : {"", "10.0.0.1:4\n", "agent:/a\nn\nm\n", "a:1\n/s\nn\nm\n",
                           "a:1\n/s\n--n\n", "--x\n/s\n", "agent:relative\n"})
    CHECK_MESSAGE(!read(text), text);
  REQUIRE(::chmod((folder + "/g").c_str(), 0666) == 0);
  CHECK(read_guest(folder, "g").error().code == Errc::kAuth);
  const auto none = read_guest(folder, "nobody");
  REQUIRE(none);
  CHECK(!*none);
  std::filesystem::remove_all(folder);
}
