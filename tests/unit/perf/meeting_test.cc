// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/meeting_test.cc -- two processes find each other through files, even among
// others' files.
#include "perf/meeting.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>

using namespace livebtl;
using namespace livebtl::perf;

namespace {

constexpr TimeNs kLong = 60 * kSecond, kShort = 20 * kMillisecond;

struct Directory {
  std::string path = "/tmp/lb-meeting-XXXXXX";
  Directory() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Directory() { std::filesystem::remove_all(path); }
};

Address address_of(int number) {
  Address address;
  address.raw.fill(static_cast<std::byte>(number));
  return address;
}

/// Lets both meet, and returns both results.
std::pair<Result<Address>, Result<Address>> both(const Meeting& one, const Meeting& other) {
  auto first = std::async(std::launch::async, [&] { return meet(one, address_of(1), kLong); });
  auto second = meet(other, address_of(2), kLong);
  return {first.get(), second};
}

}  // namespace

TEST_CASE("each gets the other's address, also where files of an earlier run lie") {
  const Directory directory;
  const Meeting zero{directory.path, "j", 0, "same"}, one{directory.path, "j", 1, "same"};
  std::ofstream(zero.file_of(0)) << "rubbish";
  CHECK(meet(one, address_of(9), kShort).error().code == Errc::kTimeout);  // leaves its file behind
  for (int run = 0; run < 2; ++run) {
    const auto [first, second] = both(zero, one);
    CHECK(first == address_of(2));
    CHECK(second == address_of(1));
  }
  remove_file(zero);
  remove_file(one);
  CHECK(std::filesystem::is_empty(directory.path));
}

TEST_CASE("processes that were told different things say so, both") {
  const Directory directory;
  const auto [first, second] =
      both({directory.path, "j", 0, "latency"}, {directory.path, "j", 1, "put\x1b"});
  CHECK(first.error().code == Errc::kInvalid);
  CHECK(first.error().text.find("put?") != std::string::npos);
  CHECK(second.error().code == Errc::kInvalid);
}

TEST_CASE("what is no file of the other's is not taken for one") {
  const Directory directory;
  const Meeting zero{directory.path, "j", 0, "same"}, one{directory.path, "j", 1, "same"};
  REQUIRE(::mkfifo(zero.file_of(1).c_str(), 0600) == 0);
  CHECK(meet(zero, address_of(1), kShort).error().code == Errc::kTimeout);
  ::unlink(zero.file_of(1).c_str());
  std::ofstream(zero.file_of(1)) << std::string(100'000, 'x');
  CHECK(meet(zero, address_of(1), kShort).error().code == Errc::kTimeout);
  REQUIRE(std::filesystem::remove(zero.file_of(1)));
  std::filesystem::create_symlink("/etc/passwd", zero.file_of(1));
  CHECK(meet(zero, address_of(1), kShort).error().code == Errc::kTimeout);
  struct stat facts {};
  REQUIRE(::stat(zero.file_of(0).c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("a directory that is not there is an error that says so") {
  const auto met = meet({"/nonexistent", "j", 0, ""}, address_of(1), kShort);
  CHECK(met.error().code == Errc::kSystem);
  CHECK(met.error().text.find("/nonexistent") != std::string::npos);
}
