// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/peer_memory_test.cc -- transports/sm/sm_peer_memory.h: other processes' memory.
#include "transports/sm/sm_peer_memory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

namespace livebtl::sm {
namespace {

constexpr std::size_t kTheirBytes = 100'000;

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

Blob their_bytes(int value) { return Blob(kTheirBytes, static_cast<std::byte>(value)); }

}  // namespace

TEST_CASE("the memory of another process is read as it is there, while that lives") {
  std::vector<std::byte> bytes(kTheirBytes, std::byte{1});
  std::uint64_t probe = 10;
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::fill(bytes.begin(), bytes.end(), std::byte{2});
    probe = 20;
    if (::write(ends[1], "", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char ready = 0;
  REQUIRE(::read(ends[0], &ready, 1) == 1);
  PeerMemory memory(child);
  CHECK(!memory.knows(address_of(&probe), 10));
  REQUIRE(memory.knows(address_of(&probe), 20));
  Blob place = their_bytes(0);
  CHECK(memory.read(address_of(bytes.data()), place));
  CHECK(place == their_bytes(2));
  CHECK(!memory.read(8, place));
  CHECK(errno == EFAULT);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(!memory.read(address_of(bytes.data()), place));
  CHECK(errno == ESRCH);
  for (const int end : ends) ::close(end);
}

TEST_CASE("a probe that is there in part is not there") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  const std::uint64_t probe_address = address_of(pages) + page - sizeof(std::uint32_t);
  const Blob there = their_bytes(3);
  Blob here = their_bytes(0);
  PeerMemory memory(::getpid());
  REQUIRE(memory.knows(probe_address, 0));
  CHECK(memory.read(address_of(there.data()), here));
  REQUIRE(::munmap(static_cast<std::byte*>(pages) + page, page) == 0);
  CHECK(!memory.read(address_of(there.data()), here));
  CHECK(errno == EFAULT);
  CHECK(!memory.knows(probe_address, 0));
  ::munmap(pages, page);
}

TEST_CASE("a process that has become another one is not read") {
  std::uint64_t probe = 5;
  const Blob there = their_bytes(3);
  Blob here = their_bytes(0);
  PeerMemory memory(::getpid());
  REQUIRE(memory.knows(address_of(&probe), 5));
  CHECK(memory.read(address_of(there.data()), here));
  CHECK(here == there);
  probe = 6;  // as after an exec, or in another process of that number
  CHECK(!memory.read(address_of(there.data()), here));
  CHECK(errno == ESRCH);
}

}  // namespace livebtl::sm
