// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_transport.h -- frames over TCP connections, IPv4 and IPv6, on all or on chosen
// interfaces.
//
// Rule: listens only on loopback while the whole job is believed to be on this node, then on all
// (docs/adr/0040-tcp-listens-where-the-job-is.md).
// Threads: none of its own; every call under the engine's lock. Wire format: docs/WIRE.md, "TCP".
#pragma once

#include "transports/interface/node_facts.h"
#include "transports/tcp/tcp_arrivals.h"
#include "transports/tcp/tcp_interfaces.h"

namespace livebtl::tcp {

class TcpTransport final : public core::Transport, public PollTarget {
 public:
  /// Listens. Errors: kInvalid and kUnreachable (settings), kSystem, kNoMemory.
  static Result<std::unique_ptr<TcpTransport>> make(const core::NodeFacts& facts,
                                                    const SocketOptions& options = {});
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;
  ~TcpTransport() override;

  std::string_view name() const noexcept override { return "tcp"; }
  const core::Caps& caps() const noexcept override;
  Blob address() const override;
  Blob contact() const override;
  bool reaches(Bytes address) const noexcept override;
  bool expect(Bytes address) noexcept override;
  void relocated() noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  int wait_fd() const noexcept override { return shared_.poller.fd(); }
  bool arm() noexcept override;
  core::Pace* pace() noexcept override { return &shared_.pace; }

  /// The tick: somebody's deadline may have passed.
  void on_ready(Turn& turn) noexcept override;

 private:
  TcpTransport(Shared shared, const core::NodeFacts& facts, std::vector<LocalAddress> local);
  Status open(std::uint16_t port_before);
  Status listen(const IpBytes& ip, std::uint16_t wish);
  bool is_elsewhere(const Reachable& peer) const;
  void lose_listener(std::uint16_t port) noexcept;
  void listen_again(TimeNs now) noexcept;
  bool has_deadlines() const noexcept { return !shared_.dialling.empty() || !arrivals_.idle(); }
  void set_ticking(bool ticking) noexcept;
  Reachable describe_own(const std::vector<LocalAddress>& local) const;

  Shared shared_;
  std::vector<std::string> interfaces_;  // TCP_IF
  const std::uint16_t port_;             // TCP_PORT; 0: any
  std::vector<LocalAddress> local_;      // as of the start, or of relocated()
  std::uint64_t network_;
  std::optional<IpBytes> near_;  // listens only there: nobody is expected from elsewhere
  std::uint16_t lost_port_ = 0;  // where nobody listens now, though peers were told of it; 0: none
  TimeNs listen_again_at_ = 0;
  Arrivals arrivals_{shared_};
  Fd tick_;  // readable every kTickNs while somebody has a deadline: wakes sleepers on
             // wait_fd()
  Poller::Token tick_token_ = Poller::Token::kNone;
  bool ticking_ = false;
  unsigned turns_since_poll_ = 0;
};

core::TransportKind tcp_kind();

}  // namespace livebtl::tcp
