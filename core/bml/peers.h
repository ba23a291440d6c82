// SPDX-License-Identifier: BSD-3-Clause
// core/bml/peers.h -- the records of all other processes, and what each of them reaches.
//
// Threads: under the engine's lock, but for spans_nodes(). Ownership: owns the Peers, and by them
// their paths. A Peer lives as long as the engine, since Destinations of the user's point to it; of one
// that has ended little is left, and no turn visits it.
// Rule:    which transport serves a pair is computed from the routing in force and from what both
//          ends reach; nothing here remembers a choice.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"
#include "core/switch/routing.h"
#include "livebtl/port.h"

namespace livebtl::core {

struct HelloFacts;

class Peers {
 public:
  Peers(const Context& context, Slots& slots) : context_(context), slots_(slots) {}

  /// The record of that process, made if there is none.
  Peer& record(ProcessId process);
  Peer* find(ProcessId process) noexcept;
  /// Those that have not ended.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& [id, record] : peers_) visit(*record);
  }
  /// Those of them that this process has to do with: it has or had a path to them, something for them, or wants a path.
  /// In a large job most are only known by their addresses, and no turn visits them. Others may be met meanwhile.
  template <class Visit>
  void for_each_met(Visit visit) {
    for (std::size_t i = 0; i < met_.size(); ++i) visit(*met_[i]);
  }
  void meet(Peer& peer) noexcept {
    if (peer.met) return;
    peer.met = true;
    met_.push_back(&peer);
  }
  std::size_t count() const noexcept { return peers_.size(); }
  /// Those that have: retire().
  template <class Visit>
  void for_each_ended(Visit visit) const {
    for (const auto& [id, record] : ended_) visit(*record);
  }
  /// The peer has failed, and has no path: gives back what only a living one needs.
  void retire(Peer& peer) noexcept;
  Result<Destination> resolve(const Address& address);
  Address address_of(ProcessId process, PortNumber port,
                     const std::map<std::string, Blob>& addresses) const;

  /// Transports that the pair reaches now, with their default exclusivity.
  std::vector<Candidate> reachable(const Peer& peer) const;
  /// The transport that `routing` gives the pair; empty: none.
  std::string choice(const Peer& peer, const Routing& routing) const;
  /// `routing` as it applies to this pair.
  RoutingView view(const Peer& peer, const Routing& routing) const;

  /// Where the peer listens, as it tells: what it names no more, it has no more, and counts the losses
  /// of by itself.
  void take_addresses(Peer& peer, const std::vector<TransportAddress>& told);
  /// It listens there, and so may dial from there.
  void learn(Peer& peer, const std::string& transport, const Blob& address);
  /// What a peer has proved to be, and has told of itself.
  void remember(Peer& peer, const HelloFacts& theirs) noexcept;
  /// A peer on another node has been met. Any thread.
  bool spans_nodes() const noexcept { return spans_nodes_.load(std::memory_order_relaxed); }
  /// What peers have told of relays, and what was learnt otherwise, each text once.
  std::vector<std::string> relays() const;
  void learn_relays(const std::vector<std::string>& relays);

  /// Numbered frames that all peers have sent and that were taken, since the beginning; also of those that
  /// have ended.
  std::uint64_t frames_taken() const noexcept;
  /// Frames unacknowledged, queued or owed: is there anything that wants the agent?
  bool work_pending() const noexcept;
  bool any_path() const noexcept;
  /// Nothing of ours is on its way to a living peer.
  bool settled() const noexcept;
  /// ... to this one, or it does not live.
  static bool settled(const Peer& peer) noexcept;

 private:
  using Records = std::unordered_map<std::uint64_t, std::unique_ptr<Peer>>;
  std::uint64_t frames_taken_of(const Peer& peer) const noexcept;

  const Context& context_;
  Slots& slots_;
  Records peers_;
  std::vector<std::string> learnt_relays_;
  Records ended_;
  std::vector<Peer*> met_;
  std::uint64_t ended_frames_taken_ = 0;
  std::atomic<bool> spans_nodes_{false};
};

}  // namespace livebtl::core
