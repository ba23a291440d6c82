// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_transport.h -- shared memory between the processes of a job on one machine.
//
// A dialler connects to the peer's Unix socket in the job directory, makes the memory, hands it
// over and may write at once; the acceptor maps it. From then on frames move by loads and stores
// alone (sm_ring.h), except large payloads, which are exposed (sm_zero_copy.h); the socket carries
// bells and shows the peer's end. Ownership: listener, epoll descriptor, connections that have not
// introduced themselves. Endpoints are the engine's.
#pragma once

#include <vector>

#include "base/log.h"
#include "transports/interface/node_facts.h"
#include "transports/sm/sm_endpoint.h"

namespace livebtl::sm {

class SmTransport final : public core::Transport {
 public:
  /// ring_bytes is rounded up to a power of two within the ring's limits. single_copy: how payloads
  /// too large for the ring are copied straight from process to process, where the kernel allows
  /// that. kAuto: where it is measured to be faster. knem: absent, or what copies that way. Errors:
  /// kSystem, kNoMemory.
  static Result<std::unique_ptr<core::Transport>> make(const core::NodeFacts& facts,
                                                       std::size_t ring_bytes,
                                                       SingleCopy single_copy = SingleCopy::kCma,
                                                       KnemDevice knem = {});
  ~SmTransport() override;

  std::string_view name() const noexcept override { return "sm"; }
  const core::Caps& caps() const noexcept override { return caps_; }
  Blob address() const override;
  bool reaches(Bytes address) const noexcept override;
  Result<std::unique_ptr<core::Endpoint>> connect(Bytes address) override;
  std::size_t progress(core::TransportSink& accept, TimeNs now,
                       std::size_t frames_max) noexcept override;
  int wait_fd() const noexcept override { return epoll_.number(); }
  bool arm() noexcept override;
  TimeNs wake_at() const noexcept override;

  // For endpoints.
  ProcessId process() const noexcept { return process_; }
  bool has_barrier() const noexcept { return has_barrier_; }
  SingleCopy single_copy() const noexcept { return single_copy_; }
  const KnemDevice& knem() const noexcept { return knem_; }
  void add(SmEndpoint& endpoint) { endpoints_.push_back(&endpoint); }
  void remove(SmEndpoint& endpoint) noexcept;
  void poll(SmEndpoint& endpoint) { polled_.push_back(&endpoint); }
  void stop_polling(SmEndpoint& endpoint) noexcept;
  /// false, with errno: the end of one of them would go unseen.
  bool watch(SmEndpoint& endpoint, const Fd& socket, const Fd& process) noexcept;
  /// Before closing a watched descriptor. No-op if it is not watched, or none.
  void unwatch(const Fd& descriptor) noexcept;
  /// It has exposed something: check whether that has been read.
  void watch_exposed(SmEndpoint& endpoint);
  /// So much was read out of a peer's memory in this turn.
  void note_remote_read(std::size_t bytes) noexcept { read_bytes_ += bytes; }
  bool has_read_enough() const noexcept { return read_bytes_ >= kReadBytesATurn; }
  /// A peer's memory could be read, and now cannot: one warning.
  void tell_refusal(const SmEndpoint& endpoint, int error) noexcept;
  /// For a payload that is read remotely and has no place; one at a time.
  MutableBytes bounce_buffer();

 private:
  /// A connection whose setup message has not arrived yet.
  struct Unauthenticated {
    std::uint64_t id = 0;
    Fd socket;
    pid_t pid = 0;
    TimeNs deadline = 0;
  };

  SmTransport(const core::NodeFacts& facts, SocketDirectory directory, std::size_t ring_bytes,
              SingleCopy single_copy, KnemDevice knem);
  Status start();

  // Rare: connections, bells, ends of peers.
  void turn_sockets(core::TransportSink& accept, TimeNs now) noexcept;
  void handle_event(std::uint64_t token, core::TransportSink& accept, TimeNs now);
  void accept_unauthenticated(core::TransportSink& accept, TimeNs now);
  void pause_listening(int error, TimeNs now) noexcept;
  bool introduce(Unauthenticated& connection, core::TransportSink& accept);
  void settle_endpoints(TimeNs now);
  std::size_t settle_exposed(bool all) noexcept;
  Status dial(SmEndpoint& endpoint);
  void refuse(const Error& why);
  bool watch_descriptor(int fd, std::uint64_t token) noexcept;
  void wake() noexcept;

  const ProcessId process_;
  const std::uint64_t node_;
  const std::size_t ring_bytes_;
  const SingleCopy single_copy_;  // as the process was started
  const KnemDevice knem_;
  core::Caps caps_;
  bool has_barrier_ = false;

  bool asleep_ = false;  // writers ring the bell
  TimeNs sockets_due_ = 0;
  std::size_t turn_ = 0;                // whose turn it is
  std::size_t read_bytes_ = 0;          // out of peers' memory, in this turn
  bool exposed_news_ = false;           // seen by arm(), or rung for: the next turn looks
  std::uint32_t turns_exposing_ = 0;    // in which no frame came
  std::vector<SmEndpoint*> polled_;     // attached, and not down
  std::vector<SmEndpoint*> exposing_;   // of these
  std::vector<SmEndpoint*> endpoints_;  // all
  std::vector<std::byte> bounce_buffer_;
  std::uint64_t next_id_ = 1;
  std::vector<Unauthenticated> unauthenticated_;
  bool refusal_logged_ = false;
  bool reads_refused_ = false;            // and logged
  TimeNs listen_again_at_ = kNoDeadline;  // kNoDeadline: the listener is watched
  LogLimit no_descriptor_logged_;
  SocketDirectory directory_;
  Fd listener_;
  Fd epoll_;
};

core::TransportKind sm_kind();

}  // namespace livebtl::sm
