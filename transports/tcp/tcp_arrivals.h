// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_arrivals.h -- listening sockets, and connections that have not sent a good
// preamble.
//
// An unauthenticated connection gets no byte from us, one log line now and then, a place among
// kUntrustedMax and kPreambleLimitNs of time. Owned by the transport; under the engine's lock.
#pragma once

#include <memory>

#include "transports/tcp/tcp_shared.h"

namespace livebtl::tcp {

/// Accepted connections that the core has not trusted yet; further ones are closed at once.
inline constexpr std::size_t kUntrustedMax = 256;

class Arrivals final : public PollTarget {
 public:
  explicit Arrivals(Shared& shared) noexcept : shared_(shared) {}
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals();

  Status listen(const IpBytes& ip, std::uint16_t port);
  /// Connections not accepted yet are reset.
  void close_listeners() noexcept;
  /// The port of the last listening socket.
  std::uint16_t last_port() const noexcept;
  /// Our ends of the listening sockets.
  std::vector<SocketAddress> listening() const;
  /// Asks the kernel for them again.
  void ask_ends() noexcept;

  /// Accepts nobody before that time, nor while there is no listener; not idle() meanwhile.
  void pause(TimeNs until) noexcept;
  /// Nothing has a deadline: sweep() need not be called.
  bool idle() const noexcept { return arrivals_.empty() && !paused_; }
  /// A listening socket is readable.
  void on_ready(Turn& turn) noexcept override;
  /// Drops those whose time is up; resumes accepting, as far as the allowance goes.
  void sweep(TimeNs now) noexcept;

 private:
  /// One connection whose preamble is not complete.
  class Arrival final : public PollTarget {
   public:
    Arrival(Arrivals& door, Fd fd, std::string from, TimeNs deadline) noexcept
        : door_(door), fd_(std::move(fd)), from_(std::move(from)), deadline_(deadline) {}
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    ~Arrival() { leave(); }

    Status watch();
    void on_ready(Turn& turn) noexcept override;
    bool is_over(TimeNs now) const noexcept { return !fd_ || now >= deadline_; }
    bool timed_out() const noexcept { return static_cast<bool>(fd_); }
    const std::string& from() const noexcept { return from_; }

   private:
    void admit(std::uint64_t peer_node, Turn& turn) noexcept;
    void leave() noexcept;

    Arrivals& door_;
    Fd fd_;  // none: gone or admitted
    std::string from_;
    TimeNs deadline_;
    Poller::Token token_ = Poller::Token::kNone;
    std::array<std::byte, kPreambleBytes> preamble_{};
    std::size_t preamble_bytes_ = 0;
  };

  struct Listener {
    Fd fd;
    Poller::Token token;
    SocketAddress end;  // ours; cached, since every step of a switch compares it
  };

  void accept_from(const Listener& listener, Turn& turn) noexcept;
  void greet(Fd fd, const std::optional<SocketAddress>& remote, Turn& turn) noexcept;
  bool refuse_one(const Listener& listener) noexcept;
  void listen_for(std::uint32_t events) noexcept;

  Shared& shared_;
  std::vector<Listener> listeners_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;
  bool paused_ = false;      // no listener is watched, since a flood would keep us awake
  TimeNs paused_until_ = 0;  // at least
  Fd spare_;  // given up to accept and close one connection when the process has no descriptor left
};

}  // namespace livebtl::tcp
