// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_series_test.cc -- damaged files are named, and of successive sets
// the oldest are removed: only those, and only once a newer one is whole.
#include "hypervisor/set/set_series.h"

#include <sys/stat.h>

#include "tests/unit/hypervisor/set/machine_pair.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

using Log = std::vector<std::string>;

struct Shelf {
  std::string path;
  const std::vector<std::string> machines = {"vm1"};

  Shelf() {
    std::string pattern = std::filesystem::temp_directory_path() / "livebtl-series-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Shelf() { std::filesystem::remove_all(path); }

  std::string make(const std::string& name, bool sealed = true,
                   const std::string& machine = "vm1") const {
    const std::string set = path + "/" + name;
    SetDirectory directory(set, {machine});
    REQUIRE(directory.prepare());
    const auto file = directory.create(machine);
    REQUIRE(file);
    REQUIRE(::write(file->number(), "ram", 3) == 3);
    if (sealed) REQUIRE(directory.seal({"0x1", "2026", 1, {{machine, 3, {}}}}));
    return set;
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(path))
      names.push_back(each.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

std::string name(int day) { return "2026110" + std::to_string(day) + "T120000Z"; }

/// Changes one byte in the middle, but neither size nor time.
void damage(const std::string& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(1);
  stream.put('#');
  REQUIRE(stream);
}

}  // namespace

TEST_CASE("a snapshot is verified when all is done, and says so") {
  MachinePair pair;
  const Report report = pair.snapshot();
  REQUIRE(report.end.code == 0);
  Log verified;
  for (const Phase& phase : report.phases)
    if (phase.name == "verify") verified.push_back(phase.object);
  CHECK(verified == Log{"vm1", "vm2"});
  CHECK(report.phases.back().name == "verify");
}

TEST_CASE("a set that cannot be read now stays a set, and is not said to be verified") {
  MachinePair pair;
  const std::string ram = pair.request.directory + "/vm1.ram";
  // Between the sealing and the reading, somebody lets others write to it.
  const Report report = pair.snapshot([&ram](const std::string& phase) {
    if (phase == "verify vm1") REQUIRE(::chmod(ram.c_str(), 0620) == 0);
  });
  CHECK(report.end.code == 4);
  CHECK(report.end.text.find("not all of it was verified") != std::string::npos);
  CHECK(std::filesystem::exists(pair.request.directory + "/set.json"));
}

TEST_CASE("a damaged set is refused by the name of the file, before anything is loaded") {
  MachinePair pair;
  REQUIRE(pair.snapshot().end.code == 0);
  pair.start("inmigrate");
  damage(pair.request.directory + "/vm2.ram");
  for (const bool dry_run : {true, false}) {
    pair.request.dry_run = dry_run;
    const Report report = pair.restore();
    CHECK(report.end.code == 8);
    CHECK(report.end.text.find(pair.request.directory + "/vm2.ram: is damaged") == 0);
    CHECK(pair.log(0).empty());
    CHECK(pair.log(1).empty());
  }
}

TEST_CASE("what is loaded already is not read again, for leases may run") {
  MachinePair pair;
  REQUIRE(pair.snapshot().end.code == 0);
  pair.start("inmigrate");
  REQUIRE(pair.restore().end.code == 0);
  damage(pair.request.directory + "/vm2.ram");
  CHECK(pair.restore().end.code == 0);
}

TEST_CASE("a file that is damaged while it is written makes no set") {
  const Shelf shelf;
  const std::string set = shelf.make(name(1));
  SetDirectory directory(set, shelf.machines);
  const auto sealed = directory.load();
  REQUIRE(sealed);
  CHECK(directory.verify(sealed->machines[0], nullptr));
  const std::atomic<bool> stop{true};
  CHECK(directory.verify(sealed->machines[0], &stop).error().code == Errc::kCancelled);
  damage(set + "/vm1.ram");
  const auto verified = directory.verify(sealed->machines[0], nullptr);
  REQUIRE(!verified);
  CHECK(verified.error().code == Errc::kCorrupt);
  REQUIRE(directory.unseal());
  CHECK(!SetDirectory(set, shelf.machines).load());
}

TEST_CASE(
    "the oldest sets go, and leavings of killed calls; the newest, and what is of no set, stay") {
  const Shelf shelf;
  for (int day = 1; day <= 5; ++day) shelf.make(name(day), day != 4);
  std::filesystem::create_directory(shelf.path + "/mine");
  std::ofstream(shelf.path + "/20261101T120000Z.txt") << "mine";
  auto series = SetSeries::open(shelf.path);
  REQUIRE(series);
  const Log said = series->prune(shelf.path + "/" + name(5), 2, shelf.machines);
  CHECK(said.size() == 3);
  CHECK(shelf.left() == Log{"20261101T120000Z.txt", name(3), name(5), "mine"});
}

TEST_CASE(
    "a set of other machines goes; one that holds something else, or cannot be read, stays and is "
    "named") {
  const Shelf shelf;
  shelf.make(name(1), true, "old");
  shelf.make(name(2));
  std::ofstream(shelf.path + "/" + name(2) + "/notes") << "mine";
  shelf.make(name(3));
  std::ofstream(shelf.path + "/" + name(3) + "/set.json") << "{}";
  shelf.make(name(4));
  auto series = SetSeries::open(shelf.path);
  REQUIRE(series);
  const Log said = series->prune(shelf.path + "/" + name(4), 1, shelf.machines);
  REQUIRE(said.size() == 3);
  CHECK(said[0].find(name(3) + " was not removed") != std::string::npos);
  CHECK(said[1].find("holds something that is of no set") != std::string::npos);
  CHECK(said[2].find(name(1) + " was removed") != std::string::npos);
  CHECK(shelf.left() == Log{name(2), name(3), name(4)});
}

TEST_CASE("sets of a later time are left alone") {
  const Shelf shelf;
  shelf.make(name(1));
  shelf.make(name(9));
  auto series = SetSeries::open(shelf.path);
  REQUIRE(series);
  CHECK(series->prune(shelf.path + "/" + name(1), 1, shelf.machines).empty());
  CHECK(shelf.left() == Log{name(1), name(9)});
}

TEST_CASE("a link that is called like a set is not followed") {
  const Shelf shelf, elsewhere;
  const std::string other = elsewhere.make(name(1));
  std::filesystem::create_directory_symlink(other, shelf.path + "/" + name(1));
  shelf.make(name(2));
  auto series = SetSeries::open(shelf.path);
  REQUIRE(series);
  CHECK(series->prune(shelf.path + "/" + name(2), 1, shelf.machines).empty());
  CHECK(elsewhere.left() == Log{name(1)});
}

TEST_CASE("a series has one command at a time, a directory of its own, and names by the time") {
  const Shelf shelf;
  {
    const auto series = SetSeries::open(shelf.path + "/sets");
    REQUIRE(series);
    struct stat facts {};
    REQUIRE(::stat((shelf.path + "/sets").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0700);
    CHECK(SetSeries::open(shelf.path + "/sets").error().code == Errc::kRefused);
    CHECK(series->next(1'800'000'000) == shelf.path + "/sets/20270115T080000Z");
    std::filesystem::create_directory(series->next(1'800'000'000));
    CHECK(series->next(1'800'000'000) == shelf.path + "/sets/20270115T080001Z");
    CHECK(series->next(1'700'000'000) ==
          shelf.path + "/sets/20270115T080001Z");  // a clock was set back
  }
  REQUIRE(SetSeries::open(shelf.path + "/sets"));
  REQUIRE(::chmod((shelf.path + "/sets").c_str(), 0777) == 0);
  CHECK(SetSeries::open(shelf.path + "/sets").error().code == Errc::kAuth);
  CHECK(SetSeries::open(shelf.path + "/no/sets").error().code == Errc::kNotFound);
  CHECK(SetSeries::look(shelf.path + "/sets").error().code == Errc::kAuth);
  const auto none = SetSeries::look(shelf.path + "/none");
  REQUIRE(none);
  CHECK(none->next(1'800'000'000) == shelf.path + "/none");
  CHECK_FALSE(std::filesystem::exists(shelf.path + "/none"));
  CHECK(is_set_name("20270115T080001Z"));
  for (const char* other :
       {"", "20270115T080001", "20270115T08000xZ", "20270115-080001Z", "020270115T08001Z"})
    CHECK(!is_set_name(other));
}

TEST_CASE("times between sets") {
  CHECK(read_interval("90s") == 90.0);
  CHECK(read_interval("30m") == 1800.0);
  CHECK(read_interval("1d") == 86'400.0);
  for (const char* text :
       {"", "m", "30", "59s", "0m", "-5m", "1.5h", "367d", "30M", "99999999999m"})
    CHECK(!read_interval(text));
}
