// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/page_hostile_test.cc -- a member's page that is another user's,
// truncated, garbled or never stands still.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <random>

#include "one_page.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("a file that is no page of the owner's is refused by name") {
  Scratch scratch;
  const MemberPage page = page_in(scratch);
  const std::string path = page_path(scratch.path(), kSelf);
  CHECK(code_of(read_page(scratch.path(), ::geteuid() + 1, kSelf)) == Errc::kAuth);
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  CHECK(code_of(read(scratch)) == Errc::kAuth);
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  const ProcessId other{0x2b};
  const std::string others = page_path(scratch.path(), other);
  REQUIRE(::symlink(path.c_str(), others.c_str()) == 0);
  CHECK(code_of(read(scratch, other)) == Errc::kAuth);
  REQUIRE(::unlink(others.c_str()) == 0);
  REQUIRE(::mkfifo(others.c_str(), 0600) == 0);
  CHECK(code_of(read(scratch, other)) == Errc::kAuth);  // and it does not wait for a writer
  REQUIRE(::unlink(others.c_str()) == 0);
  REQUIRE(::link(path.c_str(), others.c_str()) == 0);
  const auto wrong = read(scratch, other);
  REQUIRE(code_of(wrong) == Errc::kCorrupt);
  CHECK(wrong.error().text.find(others) != std::string::npos);
  REQUIRE(::unlink(others.c_str()) == 0);
  write_file(others, std::string(100, 'x'));
  CHECK(code_of(read(scratch, other)) == Errc::kCorrupt);
  write_file(others, "");
  CHECK(code_of(read(scratch, other)) == Errc::kCorrupt);
}

TEST_CASE("another version's page is refused as such") {
  Scratch scratch;
  const MemberPage page = page_in(scratch);
  auto image = image_of(page);
  PageHeader header{};
  std::memcpy(&header, image.data(), sizeof header);
  header.version = kPageVersion + 1;
  std::memcpy(image.data(), &header, sizeof header);
  CHECK(code_of(read_page(bytes_in(image), kSelf)) == Errc::kUnsupported);
}

TEST_CASE(
    "a page that lists a transport twice is refused: its counters would be two series of one "
    "name") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  show(page.engine(), 1);
  CHECK(code_of(read(scratch)) == Errc::kOk);
  show(page.engine(), 1);
  core::EnginePage& again = page.engine().to_fill();
  again.transports_shown = 2;
  again.transport[0].name = again.transport[1].name = "sm";
  page.engine().publish();
  const auto wrong = read(scratch);
  REQUIRE(code_of(wrong) == Errc::kCorrupt);
  CHECK(wrong.error().text.find("listed twice") != std::string::npos);
}

TEST_CASE("a page that is shortened while it is read is an error, and no more") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  show(page.engine(), 1);
  auto image = image_of(page);
  // Begins within the last copy: nobody reads what comes after it.
  for (std::size_t size = image.size() - sizeof(core::EnginePage) / 2; size > 0;
       size = size * 7 / 8) {
    image.resize(size - 1);
    CHECK(code_of(read_page(bytes_in(image), kSelf)) == Errc::kCorrupt);
  }
}

TEST_CASE("a page that never stands still is an error, not an endless loop") {
  Scratch scratch;
  const MemberPage page = page_in(scratch);
  const auto image = image_of(page);
  std::uint64_t reads = 0;
  const PageBytes restless = [&](std::size_t offset, MutableBytes into) {
    if (!bytes_in(image)(offset, into)) return false;
    if (into.size() == sizeof(std::uint64_t)) std::memcpy(into.data(), &++reads, sizeof reads);
    return true;
  };
  const auto view = read_page(restless, kSelf);
  CHECK(code_of(view) == Errc::kCorrupt);
  CHECK(reads < 1000);
}

namespace {

/// Garbles some bytes in the head and after it, where the fields lie close together, and some
/// anywhere.
std::vector<std::byte> garbled(std::vector<std::byte> image, std::mt19937_64& random) {
  for (std::uint64_t left = random() % 6 + 1; left > 0; --left) {
    const std::size_t at = sizeof(PageHeader) * (random() % 4 != 0) + random() % 2048;
    image[at % image.size()] = static_cast<std::byte>(random());
  }
  for (std::uint64_t left = random() % 8; left > 0; --left)
    image[random() % image.size()] = static_cast<std::byte>(random());
  return image;
}

}  // namespace

TEST_CASE("whatever bytes a page has, it is a value that is safe to show, or a named error") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  page.write(standing_at(Rung::kJoint), history_of_one());
  show(page.engine(), 3);
  const auto good = image_of(page);
  std::mt19937_64 random(19);
  std::size_t accepted = 0, refused = 0;
  for (int round = 0; round < 4'000; ++round) {
    const auto image = garbled(good, random);
    const auto view = read_page(bytes_in(image), kSelf);
    if (!view) {
      ++refused;
      const Errc code = view.error().code;
      REQUIRE((code == Errc::kCorrupt || code == Errc::kUnsupported));
      REQUIRE_FALSE(view.error().text.empty());
      continue;
    }
    ++accepted;
    REQUIRE(view->pairs.size() <= core::kPagePeers);
    for (const auto& text : {view->name, view->host, view->doing, view->waiting, view->routing}) {
      for (const char c : text) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
    }
  }
  CHECK(accepted > 100);
  CHECK(refused > 100);
}
