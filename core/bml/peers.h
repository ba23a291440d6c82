// SPDX-License-Identifier: BSD-3-Clause
// core/bml/peers.h -- the records of all other processes, and which transports reach each of them.
//
// Threads: under the engine's lock, except spans_nodes(). Ownership: owns the Peers, and through
// them their paths. A Peer lives as long as the engine, since the user's Destinations point to it;
// one that has ended keeps little, and no turn visits it.
// Rule:    which transport serves a pair is computed from the routing in force and from what both
//          ends reach; nothing here remembers a choice.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
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
  /// Visits the peers that have not ended.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& [id, record] : peers_) visit(*record);
  }
  /// Visits those of them that are met: this process has or had a path to them, has something for
  /// them, or wants a path. Most peers of a large job are known by address only, and no turn visits
  /// them. `visit` may meet others.
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
  /// Visits the peers that have ended: retire().
  template <class Visit>
  void for_each_ended(Visit visit) const {
    for (const auto& [id, record] : ended_) visit(*record);
  }
  /// The peer has failed and has no path: frees what only a living peer needs.
  void retire(Peer& peer) noexcept;
  Result<Destination> resolve(const Address& address);
  Address address_of(ProcessId process, PortNumber port,
                     const std::map<std::string, Blob>& addresses) const;

  /// The transports by which the pair can connect now, with their default exclusivity.
  Candidates reachable(const Peer& peer) const;
  /// Would choose() find one? For many peers, of which it looks at as little as it can.
  bool any_permitted(const Peer& peer, const Routing& routing) const;
  /// The transport that `routing` gives the pair; empty: none.
  std::string choice(const Peer& peer, const Routing& routing) const;
  /// `routing` as it applies to this pair.
  RoutingView view(const Peer& peer, const Routing& routing) const;

  /// Takes the peer's own list of where it listens. A transport that is no longer named is gone;
  /// the peer itself counts its losses.
  void take_addresses(Peer& peer, const std::vector<TransportAddress>& told);
  /// The peer listens there, and may dial from there.
  void learn(Peer& peer, const std::string& transport, const Blob& address);
  /// Records what a peer has proved to be, and what it says of itself.
  void remember(Peer& peer, const HelloFacts& theirs) noexcept;
  /// A peer on another node has been met. Any thread.
  bool spans_nodes() const noexcept { return spans_nodes_.load(std::memory_order_relaxed); }
  /// Relays named by peers or learnt otherwise, each once.
  std::vector<std::string> relays() const;
  void learn_relays(const std::vector<std::string>& relays);

  /// Numbered frames taken from all peers since the start, including those that have ended.
  std::uint64_t frames_taken() const noexcept;
  /// Is there work for the agent: unacknowledged or queued frames, owed acknowledgements, dials?
  bool work_pending() const noexcept;
  bool any_path() const noexcept;
  /// Nothing of ours is on its way to a living peer.
  bool settled() const noexcept;
  /// Nothing of ours is on its way to this peer, or it does not live.
  static bool settled(const Peer& peer) noexcept;

 private:
  using Records = std::unordered_map<std::uint64_t, std::unique_ptr<Peer>>;
  std::uint64_t frames_taken_of(const Peer& peer) const noexcept;
  /// Transport::cost() of the pair; nullopt: it cannot connect by that transport now.
  std::optional<std::uint32_t> cost_to(const Peer& peer, const TransportSlot& slot) const;

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
