// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/journal_test.cc -- the journal: after a kill, shortened, in one process alone.
#include "watchd/journal.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

struct Folder {
  std::string path;
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "livebtl-journal-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string journal() const { return path + "/journal"; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(journal()).rdbuf();
    return text.str();
  }
};

Entry entry(const std::string& id, State state, const std::string& text = "") {
  return {1, "azure", {.id = id}, state, true, text};
}

Result<std::vector<Entry>> read(const Folder& folder, std::vector<std::string>& warnings) {
  auto journal = Journal::open(folder.journal());
  REQUIRE(journal);
  return journal->read(warnings);
}

}  // namespace

TEST_CASE("what was appended is read; a line that a kill has cut off is not, and spoils no other") {
  const Folder folder;
  {
    auto journal = Journal::open(folder.journal());
    REQUIRE(journal);
    REQUIRE(journal->append(entry("a", State::kSeen)));
    REQUIRE(journal->append(entry("a", State::kPreparing)));
  }
  std::ofstream(folder.journal(), std::ios::app) << R"({"schema":"livebtl.wat)";
  {
    auto journal = Journal::open(folder.journal());
    std::vector<std::string> warnings;
    const auto entries = journal->read(warnings);
    REQUIRE(entries);
    CHECK(entries->size() == 2);
    CHECK(warnings.empty());
    REQUIRE(journal->append(entry("a", State::kReleased)));
  }
  std::vector<std::string> warnings;
  const auto entries = read(folder, warnings);
  REQUIRE(entries);
  REQUIRE(entries->size() == 3);
  CHECK(entries->back().state == State::kReleased);
}

TEST_CASE("a line that is none is named, and the others are read") {
  const Folder folder;
  std::ofstream(folder.journal()) << "garbage\n" << entry_line(entry("a", State::kSeen)) << "\n";
  std::vector<std::string> warnings;
  const auto entries = read(folder, warnings);
  REQUIRE(entries);
  CHECK(entries->size() == 1);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find(":1: ") != std::string::npos);
}

TEST_CASE("a second process is kept away") {
  const Folder folder;
  const auto first = Journal::open(folder.journal());
  REQUIRE(first);
  const auto second = Journal::open(folder.journal());
  REQUIRE(!second);
  CHECK(second.error().code == Errc::kRefused);
}

TEST_CASE("a long journal is shortened to what is not over, and the old one kept") {
  const Folder folder;
  {
    std::ofstream file(folder.journal());
    for (int i = 0; i < 6000; ++i)
      file << entry_line(entry("e" + std::to_string(i),
                               i % 1000 == 0 ? State::kReleased : State::kReturned))
           << "\n";
  }
  REQUIRE(folder.text().size() > (1u << 20));
  {
    auto journal = Journal::open(folder.journal());
    REQUIRE(journal);
    std::vector<std::string> warnings;
    REQUIRE(journal->read(warnings));
    CHECK(!Journal::open(folder.journal()));  // the new file is locked like the old one
    REQUIRE(journal->append(entry("new", State::kSeen)));
  }
  CHECK(std::filesystem::file_size(folder.journal() + ".1") > (1u << 20));
  std::vector<std::string> warnings;
  const auto entries = read(folder, warnings);
  REQUIRE(entries);
  CHECK(entries->size() == 7);
}

TEST_CASE("a journal that cannot be written says so, and leaves no half of a line") {
  const Folder folder;
  auto full = Journal::open("/dev/full");
  REQUIRE(full);
  const auto appended = full->append(entry("a", State::kSeen));
  REQUIRE(!appended);
  CHECK(appended.error().text.find("/dev/full cannot be written") != std::string::npos);
}
