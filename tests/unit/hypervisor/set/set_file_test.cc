// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_file_test.cc -- set.json and its directory: what was sealed can be
// read back, and everything else is refused.
#include "hypervisor/set/set_file.h"

#include <sys/stat.h>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "hypervisor/set/set_directory.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

const Json kCard = {{"driver", "vfio-pci"}, {"id", "hca0"}, {"bus", "port1"}};

SetFile two() {
  return {"0x1f2e", "2026-11-22T21:00:00Z", 8, {{"vm1", 3, {kCard}}, {"vm2", 3, {}}}};
}

bool is_read(const std::function<void(Json&)>& change) {
  Json document = Json::parse(set_text(two()));
  change(document);
  return read_set(document.dump()).has_value();
}

struct SetPlace {
  std::string path;

  SetPlace() {
    std::string pattern = std::filesystem::temp_directory_path() / "livebtl-set-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~SetPlace() { std::filesystem::remove_all(path); }

  std::string set() const { return path + "/set"; }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(set() + "/" + file) << text;
  }
};

void save(SetDirectory& directory) {
  REQUIRE(directory.prepare());
  for (const char* machine : {"vm1", "vm2"}) {
    const auto file = directory.create(machine);
    REQUIRE(file);
    REQUIRE(::write(file->number(), "ram", 3) == 3);
  }
  REQUIRE(directory.seal(two()));
}

const std::vector<std::string> kGuests = {"vm1", "vm2"};

}  // namespace

TEST_CASE("a set is read as it was written") {
  const auto set = read_set(set_text(two()));
  REQUIRE(set);
  CHECK(set->hold == "0x1f2e");
  CHECK(set->taken == "2026-11-22T21:00:00Z");
  CHECK(set->members == 8);
  REQUIRE(set->machines.size() == 2);
  CHECK(set->machines[0].name == "vm1");
  CHECK(set->machines[0].bytes == 3);
  CHECK(set->machines[0].cards == std::vector<Json>{kCard});
}

TEST_CASE("what is no list of a set is refused") {
  CHECK(is_read([](Json&) {}));
  const std::vector<std::function<void(Json&)>> changes = {
      [](Json& d) { d["schema"] = "livebtl.set/2"; },
      [](Json& d) { d.erase("hold"); },
      [](Json& d) { d["members"] = -1; },
      [](Json& d) { d["machines"] = Json::object(); },
      [](Json& d) { d["machines"] = Json::array(); },
      [](Json& d) { d["machines"][0] = "vm1"; },
      [](Json& d) { d["machines"][0]["name"] = "../vm1"; },
      [](Json& d) { d["machines"][0]["name"] = ""; },
      [](Json& d) { d["machines"][0]["name"] = std::string(65, 'a'); },
      [](Json& d) { d["machines"][0]["name"] = "vm2"; },
      [](Json& d) { d["machines"][0]["bytes"] = 0; },
      [](Json& d) { d["machines"][0]["bytes"] = 1.5; },
      [](Json& d) { d["machines"][0].erase("cards"); },
      [](Json& d) { d["machines"][0]["cards"][0].erase("driver"); },
      [](Json& d) { d["machines"][0]["cards"][0]["x"] = Json::array(); },
      [](Json& d) { d["machines"][0]["cards"].push_back(kCard); },
      [](Json& d) { d["machines"] = Json(2000, d["machines"][0]); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(is_read(changes[i]));
  }
  for (const char* hold : {"0x0", "--job", "0x12345678123456789"})
    CHECK_FALSE(is_read([&](Json& d) { d["hold"] = hold; }));
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{"),
                                  std::string(100'000, '['), std::string(2U << 20U, ' ')})
    CHECK_FALSE(read_set(text));
}

TEST_CASE("a directory is a set when it is sealed, and not before") {
  const SetPlace place;
  SetDirectory directory(place.set(), kGuests);
  CHECK(directory.look() == SetDirectory::Holds::kNothing);
  REQUIRE(directory.prepare());
  struct stat facts {};
  REQUIRE(::stat(place.set().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  REQUIRE(directory.create("vm1"));
  CHECK_FALSE(directory.create("vm1"));
  CHECK(SetDirectory(place.set(), kGuests).look() == SetDirectory::Holds::kLeavings);
  const auto none = SetDirectory(place.set(), kGuests).load();
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::kCorrupt);
  CHECK_FALSE(directory.seal(two()));  // nothing was written
  save(directory);                     // leavings are cleared
  CHECK(SetDirectory(place.set(), kGuests).look() == SetDirectory::Holds::kSet);
  const auto set = SetDirectory(place.set(), {"vm2", "vm1"}).load();
  REQUIRE(set);
  CHECK(set->machines[1].bytes == 3);
  CHECK(directory.open_ram(set->machines[0]));
}

TEST_CASE("a set that is not discarded leaves nothing, one that was there before leaves that") {
  const SetPlace place;
  SetDirectory made(place.set(), kGuests);
  REQUIRE(made.prepare());
  REQUIRE(made.create("vm1"));
  REQUIRE(made.discard());
  CHECK_FALSE(std::filesystem::exists(place.set()));
  std::filesystem::create_directory(place.set());
  SetDirectory found(place.set(), kGuests);
  REQUIRE(found.prepare());
  REQUIRE(found.create("vm1"));
  REQUIRE(found.discard());
  CHECK(std::filesystem::is_empty(place.set()));
}

TEST_CASE("a set of other machines, or with other files than were sealed, is refused") {
  const SetPlace place;
  SetDirectory directory(place.set(), kGuests);
  save(directory);
  CHECK_FALSE(SetDirectory(place.set(), {"vm1"}).load());
  CHECK_FALSE(SetDirectory(place.set(), {"vm1", "vm2", "vm3"}).load());
  place.write("vm1.ram", "more than there was");
  CHECK_FALSE(SetDirectory(place.set(), kGuests).load());
  CHECK(directory.look().error().code == Errc::kRefused);
  std::filesystem::remove(place.set() + "/vm1.ram");
  CHECK_FALSE(SetDirectory(place.set(), kGuests).load());
  std::ofstream(place.path + "/elsewhere") << "ram";
  std::filesystem::create_symlink(place.path + "/elsewhere", place.set() + "/vm1.ram");
  CHECK_FALSE(SetDirectory(place.set(), kGuests).load());
}

TEST_CASE("a set with a file that others may write to is not believed") {
  const SetPlace place;
  SetDirectory directory(place.set(), kGuests);
  save(directory);
  for (const char* file : {"/set.json", "/vm2.ram"}) {
    CAPTURE(file);
    const std::string path = place.set() + file;
    for (const mode_t open : {0602U, 0620U}) {
      REQUIRE(::chmod(path.c_str(), open) == 0);
      CHECK(SetDirectory(place.set(), kGuests).load().error().code == Errc::kAuth);
      CHECK(SetDirectory(place.set(), kGuests).look().error().code == Errc::kAuth);
    }
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK(SetDirectory(place.set(), kGuests).load());
    if (::geteuid() != 0) continue;
    REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
    CHECK(SetDirectory(place.set(), kGuests).load().error().code == Errc::kAuth);
    REQUIRE(::chown(path.c_str(), 0, 0) == 0);
  }
}

TEST_CASE("a directory that cannot be made is found before anything is done, and says why") {
  const SetPlace place;
  SetDirectory nowhere(place.set() + "/monday", kGuests);
  CHECK(nowhere.look().error().code == Errc::kNotFound);
  CHECK(nowhere.look().error().text.find("make that first") != std::string::npos);
  CHECK(nowhere.prepare().error().code == Errc::kNotFound);
  CHECK(SetDirectory(place.set() + "//", kGuests).look() == SetDirectory::Holds::kNothing);
  CHECK(SetDirectory("livebtl-no-such-set", kGuests).look() == SetDirectory::Holds::kNothing);
}

TEST_CASE("a directory of others, or with something else in it, is left alone") {
  const SetPlace place;
  std::filesystem::create_directory(place.set());
  place.write("letter", "dear");
  CHECK(SetDirectory(place.set(), kGuests).look().error().code == Errc::kRefused);
  std::filesystem::remove(place.set() + "/letter");
  REQUIRE(::chmod(place.set().c_str(), 0777) == 0);
  CHECK(SetDirectory(place.set(), kGuests).look().error().code == Errc::kAuth);
  CHECK_FALSE(SetDirectory(place.set(), kGuests).prepare());
}

TEST_CASE("a directory in whose place another user could put another one is refused") {
  const SetPlace place;
  SetDirectory directory(place.set(), kGuests);
  const auto refused = [&place](const char* said) {
    const auto no = [said](const auto& result) {
      return !result && result.error().code == Errc::kAuth &&
             result.error().text.find(said) != std::string::npos;
    };
    SetDirectory fresh(place.set() + "2", kGuests);
    CHECK(no(fresh.look()));
    CHECK(no(fresh.prepare()));
    CHECK_FALSE(std::filesystem::exists(place.set() + "2"));
    CHECK(no(SetDirectory(place.set(), kGuests).look()));
    CHECK(no(SetDirectory(place.set(), kGuests).load()));
  };
  save(directory);
  for (const mode_t open : {0770U, 0707U}) {
    REQUIRE(::chmod(place.path.c_str(), open) == 0);
    refused("without the sticky bit");
  }
  REQUIRE(::chmod(place.path.c_str(), 01777) == 0);
  CHECK(SetDirectory(place.set(), kGuests).load());
  if (::geteuid() != 0) return;
  REQUIRE(::chown(place.path.c_str(), 12345, 12345) == 0);
  refused("belongs to user 12345");
}

TEST_CASE("what is told of a set's files leads through no link") {
  const SetPlace place;
  const std::string real = std::filesystem::canonical(place.path);
  std::filesystem::create_directory_symlink(place.path, place.path + "/link");
  SetDirectory directory(place.path + "/link/set", kGuests);
  save(directory);
  CHECK(directory.ram_path("vm1") == real + "/set/vm1.ram");
}
