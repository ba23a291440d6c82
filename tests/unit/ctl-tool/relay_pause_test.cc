// SPDX-License-Identifier: BSD-3-Clause
// relay_pause_test.cc -- a node's relay that is ended while the node's processes are dumped, and
// what is not a relay.
#include "ctl-tool/commands/relay_pause.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/process_files.h"
#include "control/place/member_file.h"

using namespace livebtl;

namespace {

/// A job of one process on one node, in a directory of its own.
class Place {
 public:
  Place() {
    std::string pattern = "/tmp/livebtl-pause-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    job.directory = pattern;
    job.owner = ::geteuid();
    control::MemberCard card;
    card.node = "00000000000000aa";
    job.members.live.push_back(card);
    // The job has started a relay before: without root, no file could be made for the job's owner.
    const Fd made(::open(path(kRelayStartLock).c_str(), O_CREAT | O_RDWR, 0600));
    REQUIRE(made);
  }
  ~Place() { std::filesystem::remove_all(job.directory); }
  std::string path(std::string_view kind) const {
    return job.directory + "/" + job.members.live.front().node + std::string(kind);
  }
  /// Makes it look like that user's job. Needs root.
  void give_to(uid_t user) {
    job.owner = user;
    REQUIRE(::chown(job.directory.c_str(), user, static_cast<gid_t>(-1)) == 0);
  }
  bool may_start() const {
    const Fd lock(::open(path(kRelayStartLock).c_str(), O_RDWR));
    return lock && control::take_lock(lock.number());
  }

  control::JobPlace job;
};

/// A process that listens where the relay of the place would.
class Listener {
 public:
  explicit Listener(const Place& place) {
    const Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = place.path(kRelaySocket);
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    REQUIRE(::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    int told[2];
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    const Fd hears(told[0]);
    Fd tells(told[1]);
    pid_ = ::fork();  // the socket's credentials are those of the process that calls listen()
    if (pid_ == 0) {
      if (::listen(socket.number(), 4) == 0 && ::write(tells.number(), "", 1) == 1) ::pause();
      ::_exit(1);
    }
    REQUIRE(pid_ > 0);
    tells.reset();
    char listens = 0;
    REQUIRE(::read(hears.number(), &listens, 1) == 1);
  }
  ~Listener() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool lives() const {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }

 private:
  pid_t pid_ = -1;
};

/// A process of that user listens there on the returned socket, and has ended. Returns its number.
pid_t ended_listener(const Place& place, uid_t user, Fd& socket) {
  socket = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = place.path(kRelaySocket);
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setuid(user) == 0 && ::listen(socket.number(), 4) == 0 ? 0 : 1);
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return child;
}

/// A process of this user, with that number, that waits to be killed; -1: impossible.
pid_t start_as(pid_t number) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uint64_t>(&number);
  how.set_tid_size = 1;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
  while (child == 0) ::pause();
  return child;
}

}  // namespace

TEST_CASE("where no relay runs none is started while the pause lasts") {
  const Place place;
  CHECK(place.may_start());
  {
    const auto pause = tool::pause_relay(place.job);
    REQUIRE(pause);
    CHECK_FALSE(place.may_start());
  }
  CHECK(place.may_start());
}

TEST_CASE("the relay of the job's owner is ended") {
  const Place place;
  const Listener relay(place);
  REQUIRE(relay.lives());
  const auto pause = tool::pause_relay(place.job);
  REQUIRE(pause);
  CHECK_FALSE(relay.lives());
  CHECK_FALSE(place.may_start());
}

TEST_CASE("what listens for another user in the relay's place is left alone, and named") {
  if (::geteuid() != 0) return;  // two users: needs root
  Place place;
  const Listener other(place);
  place.give_to(12345);
  const auto pause = tool::pause_relay(place.job);
  REQUIRE_FALSE(pause);
  CHECK(pause.error().code == Errc::kRefused);
  CHECK(pause.error().text.find("another user, which is not ended") != std::string::npos);
  CHECK(other.lives());
  CHECK(place.may_start());
}

TEST_CASE("a process that has the number of one that listened before is left alone") {
  if (::geteuid() != 0) return;  // choosing a process's number, and two users: needs root
  Place place;
  place.give_to(12345);
  Fd socket;
  const pid_t number = ended_listener(place, place.job.owner, socket);
  REQUIRE(tool::pause_relay(place.job));
  const pid_t other = start_as(number);
  if (other < 0) return;  // not permitted in this container
  const auto pause = tool::pause_relay(place.job);
  siginfo_t ended{};
  CHECK(::waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
  CHECK(ended.si_pid == 0);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  REQUIRE_FALSE(pause);
  CHECK(pause.error().code == Errc::kRefused);
}

TEST_CASE("a node without a process of the job has no relay to pause") {
  Place place;
  place.job.members.live.clear();
  const auto pause = tool::pause_relay(place.job);
  REQUIRE_FALSE(pause);
  CHECK(pause.error().code == Errc::kNotFound);
}

TEST_CASE("no file is made outside of the job's directory, whatever its cards say of the node") {
  Place place;
  const std::string outside = place.job.directory + "-outside";
  place.job.members.live.front().node = "../" + outside.substr(outside.rfind('/') + 1);
  const auto pause = tool::pause_relay(place.job);
  REQUIRE_FALSE(pause);
  CHECK(pause.error().code == Errc::kRefused);
  CHECK_FALSE(std::filesystem::exists(outside + std::string(kRelayStartLock)));
}

TEST_CASE("a directory that is not the job's owner's is no place for a file") {
  if (::geteuid() != 0) return;  // two users: needs root
  Place place;
  const std::string lock = place.path(kRelayStartLock);
  REQUIRE(std::filesystem::remove(lock));
  place.job.owner = 12345;
  CHECK_FALSE(tool::pause_relay(place.job));
  CHECK_FALSE(std::filesystem::exists(lock));
  place.give_to(12345);
  REQUIRE(tool::pause_relay(place.job));
  struct stat facts {};
  REQUIRE(::stat(lock.c_str(), &facts) == 0);
  CHECK(facts.st_uid == 12345);
}
