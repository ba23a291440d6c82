// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/flooder.h -- a process of strangers: it dials a tcp listener as fast as it
// can, and sends a well-formed HELLO each time.
//
// A child of the test, so that its own use of resources is not measured; it calls nothing that
// takes a lock of the test's. Needs Linux.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <vector>

#include "core/path/handshake.h"
#include "tests/unit/core/engine/rig.h"
#include "transports/tcp/tcp_frame.h"

namespace livebtl::test {

class Flooder {
 public:
  /// hellos: sent in turn.
  Flooder(std::uint16_t port, const std::vector<Blob>& hellos, std::uint64_t wanted)
      : progress_(new (map()) Progress), wanted_(wanted) {
    std::vector<Blob> calls;
    for (const Blob& hello : hellos) calls.push_back(as_call(hello));
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close_range(3, ~0U, 0);  // the members' descriptors
      flood(port, calls);
      ::_exit(0);
    }
  }
  Flooder(const Flooder&) = delete;
  Flooder& operator=(const Flooder&) = delete;
  ~Flooder() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(progress_, sizeof(Progress));
  }

  /// Calls that were answered, then ended.
  std::uint64_t answered() const noexcept { return progress_->answered.load(); }
  /// Calls that found no room, and were closed without a word.
  std::uint64_t turned_away() const noexcept { return progress_->turned_away.load(); }
  bool over() const noexcept { return answered() + turned_away() >= wanted_; }

 private:
  struct Progress {
    std::atomic<std::uint64_t> answered{0}, turned_away{0};
  };
  struct Call {
    int fd = -1;
    bool said = false;
  };
  static constexpr std::size_t kAtOnce = 128;

  static void* map() {
    void* const at = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return at;
  }
  static Blob as_call(const Blob& hello) {
    const core::FrameHead head{core::FrameKind::kHello, 0, 0, 0, 0, 0, 0};
    tcp::Head encoded;
    tcp::encode_head({bytes_of(head), hello, 0, false}, false, encoded);
    ByteWriter writer;
    writer.put_bytes(tcp::encode_preamble(1));
    writer.put_bytes(encoded.view());
    writer.put_bytes(hello);
    return writer.take();
  }

  void flood(std::uint16_t port, const std::vector<Blob>& calls) {
    const int poller = ::epoll_create1(0);
    std::array<Call, kAtOnce> open;
    std::array<epoll_event, kAtOnce> ready;
    std::uint64_t begun = 0;
    for (Call& call : open) begin(call, poller, port, begun);
    while (!over()) {
      const int count = ::epoll_wait(poller, ready.data(), kAtOnce, 100);
      for (int i = 0; i < count; ++i) {
        Call& call = *static_cast<Call*>(ready[static_cast<std::size_t>(i)].data.ptr);
        const Blob& words = calls[begun % calls.size()];
        if (turn(call, poller, words)) begin(call, poller, port, begun);
      }
    }
  }
  void begin(Call& call, int poller, std::uint16_t port, std::uint64_t& begun) {
    if (begun == wanted_) return;
    ++begun;
    call.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    call.said = false;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::connect(call.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    epoll_event wanted{};
    wanted.events = EPOLLOUT;
    wanted.data.ptr = &call;
    ::epoll_ctl(poller, EPOLL_CTL_ADD, call.fd, &wanted);
  }
  /// Returns whether the call has ended.
  bool turn(Call& call, int poller, const Blob& words) {
    if (!call.said) {
      call.said = true;
      (void)::send(call.fd, words.data(), words.size(), MSG_NOSIGNAL);
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      wanted.data.ptr = &call;
      ::epoll_ctl(poller, EPOLL_CTL_MOD, call.fd, &wanted);
      return false;
    }
    std::array<std::byte, 4096> heard;
    const ssize_t bytes = ::recv(call.fd, heard.data(), heard.size(), 0);
    const bool preamble_alone = bytes == static_cast<ssize_t>(tcp::kPreambleBytes);
    if (preamble_alone) return false;  // its answer to the HELLO follows
    ++(bytes > 0 ? progress_->answered : progress_->turned_away);
    ::close(call.fd);
    return true;
  }

  Progress* progress_;
  const std::uint64_t wanted_;
  pid_t child_ = -1;
};

}  // namespace livebtl::test
