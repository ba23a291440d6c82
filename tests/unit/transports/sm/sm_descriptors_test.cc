// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_descriptors_test.cc -- what keeps a process that sleeps on sm awake:
// descriptors that a child also holds, and a listener that has no descriptor left.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"
#include "tests/unit/base/captured_stderr.h"
#include "tests/unit/control/agent/few_descriptors.h"
#include "tests/unit/transports/copied_descriptors.h"
#include "tests/unit/transports/sm/sm_kit.h"

namespace livebtl::sm {
namespace {

using test::CopiedDescriptors;
using test::falls_asleep;
using test::readable;

/// Another process, which has dialled process 1 and lives until it is ended.
class DialledFrom {
 public:
  explicit DialledFrom(const JobDirectory& directory) : child_(::fork()) {
    if (child_ == 0) dial_and_wait(directory.path());
  }
  ~DialledFrom() { end(); }
  DialledFrom(const DialledFrom&) = delete;
  DialledFrom& operator=(const DialledFrom&) = delete;
  void end() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  [[noreturn]] static void dial_and_wait(const std::string& directory) {
    core::NodeFacts facts;
    facts.process = ProcessId{2};
    facts.node = 5;
    facts.job_directory = directory;
    const auto made = SmTransport::make(facts, kRingBytes);
    if (!made) ::_exit(1);
    const auto dialled = (*made)->connect(contact_of(1));
    if (!dialled) ::_exit(2);
    while (true) ::pause();
  }

  pid_t child_;
};

Fd stranger_at(const JobDirectory& directory) {
  const auto sockets = SocketDirectory::open(directory.path());
  REQUIRE(sockets.has_value());
  auto socket = sockets->connect(socket_name(ProcessId{1}));
  REQUIRE(socket.has_value());
  return std::move(*socket);
}

void take_accepted_end(Side& side, End& end) {
  REQUIRE(turn_until(side, [&] { return !side.accepted.empty(); }));
  end.take(std::move(side.accepted.front()));
  side.accepted.clear();
}

}  // namespace

TEST_CASE("a peer that has died keeps nobody awake, though a child here holds what led to it") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  DialledFrom peer(directory);
  End end;
  take_accepted_end(*side, end);
  const CopiedDescriptors child;
  peer.end();
  REQUIRE(turn_until(*side, [&] { return !end.downs.empty(); }));
  CHECK(falls_asleep(*side));
}

TEST_CASE("nor does one whose connection was closed here before") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  DialledFrom peer(directory);
  End end;
  take_accepted_end(*side, end);
  const CopiedDescriptors child;
  end.close();
  peer.end();
  CHECK(falls_asleep(*side));
}

TEST_CASE("nor do strangers that were refused, or whose time was over, or who had to make room") {
  set_log_level(LogLevel::kError);
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  Fd first = stranger_at(directory), second = stranger_at(directory);
  REQUIRE(falls_asleep(*side));
  const CopiedDescriptors child({first.number(), second.number()});
  SUBCASE("refused") {
    for (const Fd* each : {&first, &second})
      REQUIRE(::send(each->number(), "rubbish", 7, MSG_NOSIGNAL) == 7);
    REQUIRE(falls_asleep(*side));
  }
  SUBCASE("their time was over") { side->ahead = 60 * kSecond; }
  std::vector<Fd> crowd;
  SUBCASE("they had to make room") {
    for (int i = 0; i < 64; ++i) crowd.push_back(stranger_at(directory));
  }
  REQUIRE(falls_asleep(*side));
  first.reset();
  second.reset();
  CHECK(falls_asleep(*side));
}

TEST_CASE("a connection whose end could not be seen is none, and says what is used up") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  DialledFrom peer(directory);
  End end;
  take_accepted_end(*side, end);  // so it is listening
  // They run out one after another: for the socket, the memory, and what tells of the process's
  // end.
  std::string said;
  bool connected = false;
  for (rlim_t left = 0; left < 64 && !connected; ++left) {
    const test::FewDescriptors few(left);
    const auto dialled = side->transport->connect(contact_of(2));
    connected = dialled.has_value();
    if (connected) break;
    CHECK(dialled.error().code == Errc::kNoMemory);
    said = dialled.error().text;
  }
  CHECK(connected);
  CHECK_MESSAGE(said.find("its end could not be seen") != std::string::npos, said);
  CHECK_MESSAGE(said.find("ulimit -n") != std::string::npos, said);
}

TEST_CASE("without a descriptor the listener rests, says so once, and goes on when there is one") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  const Fd waiting = stranger_at(directory);
  core::Transport& transport = *side->transport;
  const TimeNs now = monotonic_now();
  const auto move_at = [&](TimeNs at) {
    transport.arm();
    transport.progress(*side, at, 64);
    return transport.arm() && !readable(transport.wait_fd());
  };
  const std::string log = test::captured_stderr([&] {
    const test::FewDescriptors none(0);
    for (TimeNs at = now; at < now + kSecond; at = transport.wake_at()) {
      REQUIRE((move_at(at) || move_at(at)));  // the listener comes back, then rests again
      CHECK(transport.wake_at() > at);
      CHECK(transport.wake_at() <= at + 100 * kMillisecond);
    }
  });
  CHECK(log.find("cannot accept") != std::string::npos);
  CHECK(log.find("cannot accept") == log.rfind("cannot accept"));
  const TimeNs later = transport.wake_at();
  move_at(later);
  CHECK(move_at(later));
  CHECK(transport.wake_at() > later + kSecond);  // that of the stranger, which was let in
}

}  // namespace livebtl::sm
