// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_peer_test.cc -- sm beyond the suite: real peer processes that die, strangers,
// long paths, mismatch.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"
#include "tests/unit/transports/sm/sm_kit.h"

namespace livebtl::sm {
namespace {

/// A child that dials process 1, posts `frames` frames, and then waits to be killed; never returns.
/// leash: if >= 0, a child of that child holds copies of all descriptors until the leash's other
/// end is closed.
[[noreturn]] void be_a_peer(const std::string& directory, std::uint64_t frames, int leash) {
  core::NodeFacts facts;
  facts.process = ProcessId{2};
  facts.node = 5;
  facts.job_directory = directory;
  auto made = SmTransport::make(facts, kRingBytes);
  if (!made) ::_exit(1);
  Side side(std::move(*made));
  auto dialled = side.transport->connect(contact_of(1));
  if (!dialled) ::_exit(2);
  End end;
  end.take(std::move(*dialled));
  if (leash >= 0 && ::fork() == 0) {
    char byte = 0;
    ::_exit(::read(leash, &byte, 1) == 0 ? 0 : 4);
  }
  for (std::uint64_t i = 0; i < frames; ++i)
    if (end.post_pattern(i, 16, 100) == core::Post::kRetry) ::_exit(3);
  while (true) ::pause();
}

void kill_a_peer(bool child_holds_socket) {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  int leash[2] = {-1, -1};
  if (child_holds_socket) REQUIRE(::pipe(leash) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(leash[1]);
    be_a_peer(directory.path(), 50, leash[0]);
  }
  REQUIRE(turn_until(*side, [&] { return !side->accepted.empty(); }));
  End end;
  end.take(std::move(side->accepted.front()));
  side->accepted.clear();
  CHECK(end.endpoint().kernel_vouched());
  REQUIRE(turn_until(*side, [&] { return end.frames > 0; }));
  ::kill(child, SIGKILL);
  REQUIRE(turn_until(*side, [&] { return !end.downs.empty(); }));
  CHECK(end.downs[0].code == Errc::kDown);
  // Killed at any moment: what it wrote is whole, and in order from the first on.
  CHECK(end.frames <= 50);
  for (std::size_t i = 0; i < end.received.size(); ++i)
    CHECK(end.received[i].header == conformance::pattern(i, 16));
  ::waitpid(child, nullptr, 0);
  ::close(leash[0]);
  ::close(leash[1]);
}

int connect_raw(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

bool closed_by_peer(int fd) {
  char byte = 0;
  const ssize_t count = ::recv(fd, &byte, 1, MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno == ECONNRESET);
}

}  // namespace

TEST_CASE("a killed peer: what it wrote is delivered, then the path is down") {
  kill_a_peer(false);
}

TEST_CASE("a killed peer whose child holds its socket is noticed all the same") {
  kill_a_peer(true);
}

TEST_CASE("job directories longer than a socket path serve as well") {
  const JobDirectory directory(std::string(90, 'd') + "/" + std::string(90, 'e'));
  auto one = make_side(directory, 1);
  auto two = make_side(directory, 2);
  auto dialled = two->transport->connect(one->transport->contact());
  REQUIRE_MESSAGE(dialled.has_value(), (dialled ? std::string() : dialled.error().text));
  CHECK(turn_until(*one, [&] { return !one->accepted.empty(); }));
}

TEST_CASE("a socket file left by a dead process is replaced, ours is removed") {
  const JobDirectory directory;
  const std::string path = directory.path() + "/" + socket_name(ProcessId{1});
  {
    auto socket_directory = SocketDirectory::open(directory.path());
    REQUIRE(socket_directory.has_value());
    REQUIRE(socket_directory->listen(socket_name(ProcessId{1})).has_value());
  }
  REQUIRE(std::filesystem::exists(path));
  {
    auto one = make_side(directory, 1);
    auto two = make_side(directory, 2);
    CHECK(two->transport->connect(one->transport->contact()).has_value());
  }
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("strangers that say rubbish, too much or nothing are dropped, and hurt nobody") {
  set_log_level(LogLevel::kError);
  const JobDirectory directory;
  auto one = make_side(directory, 1);
  auto two = make_side(directory, 2);
  const std::string path = directory.path() + "/" + socket_name(ProcessId{1});
  std::vector<int> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_raw(path));
  const int loud = connect_raw(path);
  const std::string rubbish(3000, 'x');
  REQUIRE(::send(loud, rubbish.data(), rubbish.size(), MSG_NOSIGNAL) == 3000);
  REQUIRE(turn_until(*one, [&] { return closed_by_peer(loud); }));
  CHECK(closed_by_peer(silent[0]));  // only 64 may wait
  CHECK(!closed_by_peer(silent[99]));
  auto dialled = two->transport->connect(one->transport->contact());
  REQUIRE(dialled.has_value());
  CHECK(turn_until(*one, [&] { return one->accepted.size() == 1; }));
  for (const int fd : silent) ::close(fd);
  ::close(loud);
}

TEST_CASE("setups that do not fit are refused: size, seals, process, ring") {
  set_log_level(LogLevel::kError);
  const JobDirectory directory;
  auto one = make_side(directory, 1);
  auto socket_directory = SocketDirectory::open(directory.path());
  REQUIRE(socket_directory.has_value());
  const auto refused = [&](const Setup& setup, const Fd& memory) {
    auto socket = socket_directory->connect(socket_name(ProcessId{1}));
    REQUIRE(socket.has_value());
    REQUIRE(send_setup(*socket, setup, memory).has_value());
    one->accepted.clear();
    REQUIRE(turn_until(*one,
                       [&] { return closed_by_peer(socket->number()) || !one->accepted.empty(); }));
    return one->accepted.empty();
  };
  auto made = Segment::make(kRingBytes);
  REQUIRE(made.has_value());
  Setup good;
  good.node = 5;
  good.from = ProcessId{2};
  good.to = ProcessId{1};
  good.ring_bytes = kRingBytes;
  CHECK(!refused(good, made->memory));
  Setup bad = good;
  bad.to = ProcessId{3};
  CHECK(refused(bad, made->memory));
  bad = good;
  bad.node = 6;
  CHECK(refused(bad, made->memory));
  bad = good;
  bad.ring_bytes = kRingBytes * 2;
  CHECK(refused(bad, made->memory));
  bad = good;
  bad.magic ^= 1;
  CHECK(refused(bad, made->memory));
  const Fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(unsealed.number(), 4096 + 2 * static_cast<off_t>(kRingBytes)) == 0);
  CHECK(refused(good, unsealed));
  auto small = Segment::make(kRingBytesMin);
  REQUIRE(small.has_value());
  CHECK(refused(good, small->memory));
}

TEST_CASE("a peer that spoils the ring is dropped, as corrupt") {
  const JobDirectory directory;
  auto one = make_side(directory, 1);
  auto socket_directory = SocketDirectory::open(directory.path());
  REQUIRE(socket_directory.has_value());
  for (const bool spoil_head : {false, true}) {
    auto made = Segment::make(kRingBytes);
    REQUIRE(made.has_value());
    Setup setup;
    setup.node = 5;
    setup.from = ProcessId{2};
    setup.to = ProcessId{1};
    setup.ring_bytes = kRingBytes;
    auto socket = socket_directory->connect(socket_name(ProcessId{1}));
    REQUIRE(socket.has_value());
    REQUIRE(send_setup(*socket, setup, made->memory).has_value());
    REQUIRE(turn_until(*one, [&] { return !one->accepted.empty(); }));
    End end;
    end.take(std::move(one->accepted.front()));
    one->accepted.clear();
    void* const base =
        ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, made->memory.number(), 0);
    REQUIRE(base != MAP_FAILED);
    const std::uint64_t rubbish = 0x1234'5678'9abc'def1;
    // The acceptor writes ring 1, whose words lie at 384, and reads ring 0, whose data begin at
    // 4096.
    std::memcpy(static_cast<std::byte*>(base) + (spoil_head ? sizeof(RingWords) : 4096), &rubbish,
                8);
    REQUIRE(turn_until(*one, [&] {
      if (spoil_head) end.post_pattern(1, 8, 1000);
      return !end.downs.empty();
    }));
    CHECK(end.downs[0].code == Errc::kCorrupt);
    CHECK(end.frames == 0);
    CHECK(closed_by_peer(socket->number()));
    ::munmap(base, 8192);
  }
}

TEST_CASE("processes of other nodes are not reached, and different ring sizes part with a word") {
  set_log_level(LogLevel::kError);
  const JobDirectory directory;
  auto one = make_side(directory, 1);
  Blob elsewhere = contact_of(1);
  elsewhere[1] ^= std::byte{1};
  CHECK(!one->transport->reaches(elsewhere));
  auto two = make_side(directory, 2, kRingBytes * 2);
  auto dialled = two->transport->connect(one->transport->contact());
  REQUIRE(dialled.has_value());
  End end;
  end.take(std::move(*dialled));
  REQUIRE(turn_until(*two, [&] {
    one->turn();
    return !end.downs.empty();
  }));
  CHECK(one->accepted.empty());
}

}  // namespace livebtl::sm
