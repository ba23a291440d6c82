// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_dialler.h -- connects to a peer: tries its addresses one after the other until
// one answers with a good preamble from the right node. First frames may follow our preamble at
// once, in the same packet. Never blocks; owned by the endpoint that gets its socket.
#pragma once

#include <functional>

#include "base/clock.h"
#include "transports/tcp/tcp_frame.h"
#include "transports/tcp/tcp_socket.h"

namespace livebtl::tcp {

/// Time for an answer, preamble included; on either side.
inline constexpr TimeNs kPreambleLimitNs = 3 * kSecond;
/// The same at an address that others follow: the hello, which must be answered within 3 s in all,
/// is to reach some of them.
inline constexpr TimeNs kNextAddressNs = 1 * kSecond;

class Dialler {
 public:
  /// candidates: at least one, best first. peer_node: who must answer; nullopt: not known.
  Dialler(std::vector<SocketAddress> candidates, std::optional<std::uint64_t> peer_node,
          std::uint64_t own_node, const SocketOptions& options);

  enum class State : std::uint8_t { kWaiting, kOpen, kFailed };
  /// Goes on as far as it can without waiting.
  State step(TimeNs now);

  /// The node that must answer; nullopt: not known.
  const std::optional<std::uint64_t>& peer_node() const noexcept { return peer_node_; }
  /// Follows our preamble at each address. false: it may not, as one connection is made already or
  /// it is too much.
  bool say_at_once(Bytes head, Bytes payload);

  /// The socket of the attempt under way; -1: none.
  int fd() const noexcept { return fd_.number(); }
  /// Called before step() closes a socket.
  std::function<void(int fd)> before_close;
  /// EPOLLIN or EPOLLOUT: what the attempt waits for.
  std::uint32_t events() const noexcept;

  /// kOpen only.
  Fd take_fd() noexcept { return std::move(fd_); }
  std::uint64_t answered_node() const noexcept { return answered_node_; }
  const std::optional<SocketAddress>& local() const noexcept { return local_; }
  const SocketAddress& target() const noexcept { return candidates_[next_]; }
  /// kFailed: each address and why.
  const std::string& failures() const noexcept { return failures_; }
  /// For people: the addresses.
  std::string targets() const;

 private:
  bool start(TimeNs now);
  void see_failure();
  void see_connected();
  bool read_answer();
  void give_up(const std::string& why);

  std::vector<SocketAddress> candidates_;
  std::optional<std::uint64_t> peer_node_;
  SocketOptions options_;
  std::size_t next_ = 0;  // candidate
  Fd fd_;
  Blob first_words_;  // our preamble, and what follows it at once
  bool connected_ = false;
  std::optional<SocketAddress> local_;
  TimeNs deadline_ = 0;
  std::array<std::byte, kPreambleBytes> answer_{};
  std::size_t answer_bytes_ = 0;
  std::uint64_t answered_node_ = 0;
  std::string failures_;
};

}  // namespace livebtl::tcp
