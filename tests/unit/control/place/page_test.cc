// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/page_test.cc -- a member's page: others read what its two writers wrote.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

#include "one_page.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("a page says what its two writers have put into it") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  page.write(standing_at(Rung::kJoint), history_of_one());
  show(page.engine(), 3);
  const auto view = read(scratch);
  REQUIRE_MESSAGE(view, view.error().text);
  CHECK(view->job == "job-1");
  CHECK(view->rank == 1);
  CHECK(view->member.process == kSelf);
  CHECK(view->node == "0000000000000077");
  CHECK(view->pid == static_cast<std::uint32_t>(::getpid()));
  CHECK(view->doing == "switch sm tcp");
  CHECK(view->waiting == "the marker of rank 0");
  CHECK(view->routing == "verbs excluded");
  CHECK(view->messages_sent == 3);
  CHECK(view->transports.at(1).carried.bytes_sent == 192);
  CHECK(view->transports.at(1).alias == "vader");
  CHECK(view->pairs.at(0).sending == "sm");
  CHECK(view->pairs.at(0).receiving.empty());
  CHECK(view->pairs.at(0).bulk == std::vector<std::string>{"sm"});
  CHECK(view->losses.at(0).why == "connection reset");
  const std::uint64_t now_ms = unix_now_ns() / std::uint64_t{kMillisecond};
  CHECK(view->losses.at(0).unix_ms <= now_ms);
  CHECK(view->losses.at(0).unix_ms + 60'000 > now_ms);
}

TEST_CASE("a page tells of the last switches") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  page.write(standing_at(Rung::kJoint), history_of_one());
  const auto view = read(scratch);
  REQUIRE(view);
  REQUIRE(view->switches.size() == 1);
  CHECK(view->switches[0].ordered_by == "root on node17, by btlctl switch");
  CHECK(view->switches[0].arguments == std::vector<std::string>{"sm", "tcp"});
  CHECK(view->switches[0].rungs.at(0).reached);
  CHECK(view->switches[0].rungs.at(0).reached_ns == 5 * kMillisecond);
  CHECK(view->switches[0].rungs.at(0).waited_for == "the marker of rank 0");
}

TEST_CASE("a page is there as long as its owner, and closed to others") {
  Scratch scratch;
  {
    const MemberPage page = page_in(scratch);
    struct stat facts {};
    REQUIRE(::stat(page_path(scratch.path(), kSelf).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    CHECK(facts.st_size == sizeof(PageFile));
    CHECK(facts.st_blocks * 512 >= facts.st_size);  // fully allocated: no store meets a full disk
    CHECK(read(scratch));
  }
  CHECK(code_of(read(scratch)) == Errc::kNotFound);
}

TEST_CASE("a writer that is stopped in the middle leaves the value before") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  show(page.engine(), 5);
  page.engine().to_fill().messages_sent = 999;  // and never publishes
  const auto view = read(scratch);
  REQUIRE(view);
  CHECK(view->messages_sent == 5);
}

TEST_CASE("what is read while another thread writes is one value, not parts of two") {
  Scratch scratch;
  MemberPage page = page_in(scratch);
  show(page.engine(), 1);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 2; !stop.load(); ++i) {
      show(page.engine(), i);
      ::usleep(20);
    }
  });
  std::size_t whole = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto view = read(scratch);
    if (!view) continue;  // it may change faster than it can be read
    ++whole;
    REQUIRE(view->messages_sent == view->messages_received);
    REQUIRE(view->transports.at(1).carried.bytes_sent == 64 * view->messages_sent);
    REQUIRE(view->messages_sent >= last);
    last = view->messages_sent;
  }
  stop.store(true);
  writer.join();
  CHECK(whole > 0);
}
