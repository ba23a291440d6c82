// SPDX-License-Identifier: BSD-3-Clause
// core/lane/onesided.h -- put, get, atomics and flush by ordered frames: exactly once, over every
// transport.
//
// Threads: under the engine's lock. The target answers on the thread that drives its engine, even
// if it is the agent: no MPI call is needed there.
#pragma once

#include "core/engine/parts.h"
#include "core/lane/peer.h"
#include "core/lane/region_table.h"
#include "core/lane/slot_table.h"

namespace livebtl::core {

/// Puts and gets up to this travel in one ordered frame; larger ones by rendezvous.
inline constexpr std::size_t kPutEagerBytesMax = 8192;

class OneSided {
 public:
  OneSided(const Context& context, Sender& sender, Transfers& transfers, PortTable& ports,
           PathEvents& events)
      : context_(context), sender_(sender), transfers_(transfers), ports_(ports), events_(events) {}

  Accept put(PortState& port, const PutRequest& request, Operation& operation) noexcept;
  Accept get(PortState& port, const GetRequest& request, Operation& operation) noexcept;
  Accept atomic(PortState& port, const AtomicRequest& request, Operation& operation) noexcept;
  Accept flush(PortState& port, Peer* peer, Operation& operation) noexcept;

  // Target side.
  void on_put(Peer& peer, const FrameHead& head, const RemoteBody& body, Bytes payload) noexcept;
  void on_get(Peer& peer, const FrameHead& head, const RemoteBody& body) noexcept;
  void on_atomic(Peer& peer, const FrameHead& head, const AtomicBody& body, Bytes payload) noexcept;
  void on_put_offer(Peer& peer, const FrameHead& head, const RtsBody& body, Bytes payload) noexcept;
  // Origin side.
  void on_get_offer(Peer& peer, const RtsBody& body) noexcept;
  /// kDone, kGetReply or kAtomicReply.
  void on_answer(Peer& peer, const FinBody& body, Bytes payload) noexcept;
  /// The operation is over (also called by rendezvous for large puts and gets).
  void complete(Operation& operation, const Completion& completion) noexcept;

  /// The region's memory is the caller's again when this returns: peers' accesses to it end.
  Status deregister(std::uint32_t space, std::uint64_t key) noexcept;
  void fail_all(Peer& peer) noexcept;
  void cancel_port(PortState& port) noexcept;

  RegionTable regions;

 private:
  struct Pending {
    Operation* operation = nullptr;
    Peer* peer = nullptr;
    MutableSlice slices[kSlicesMax];
    std::uint8_t slice_count = 0;
    std::uint64_t bytes = 0;
  };
  bool is_full(const PortState& port) const noexcept;
  bool admit(PortState& port, Peer& peer, Accept& answer) const noexcept;
  void open(PortState& port, Operation& operation, Peer& peer, std::size_t bytes) noexcept;
  std::uint64_t remember(Operation& operation, Peer& peer, std::span<const MutableSlice> slices,
                         std::uint64_t bytes);
  void check_flushes(PortState& port) noexcept;
  template <class Concerned>
  void end_pending(Concerned concerned, Errc code) noexcept;
  /// What a request refers to; memory null: no such port or region, or rights or bounds forbid it.
  struct Target {
    PortState* port = nullptr;
    std::byte* memory = nullptr;
  };
  Target find_target(const FrameHead& head, std::uint64_t key, std::uint64_t address,
                     std::uint64_t bytes, Access wanted) noexcept;
  bool take_request(Peer& peer) noexcept;
  void answer(Peer& peer, FrameKind kind, std::uint64_t operation, Errc code, Bytes payload = {});

  const Context& context_;
  Sender& sender_;
  Transfers& transfers_;
  PortTable& ports_;
  PathEvents& events_;
  SlotTable<Pending> pending_;
};

}  // namespace livebtl::core
