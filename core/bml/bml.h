// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.h -- which paths serve a peer: opens transports, dials, accepts, elects, fails over,
// clears away.
//
// Threads:   under the engine's lock.
// Ownership: owns the transports, the peers and the paths that have not said who they are.
// Rule:      path sets are computed from the routing in force (switching.h) and from what both ends
//            reach; nothing here remembers a choice.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "core/bml/peer.h"
#include "core/bml/transport_slot.h"
#include "core/engine/admin.h"
#include "core/switch/returning.h"
#include "core/switch/routing.h"
#include "livebtl/port.h"

namespace livebtl::core {

struct Core;

/// How the relay's contact is told from transports' addresses in a hello.
inline constexpr const char* kRelayAddress = "relay";
inline constexpr std::size_t kRelayBytesMax = 256;
/// A back-off of dials as long as this: five have failed, so the address may be an old one.
inline constexpr TimeNs kDialledInVain = 16 * kMillisecond;

/// The longest back-off: of a pair that has nothing to send on, and of one that is served.
inline constexpr TimeNs kRedialUnserved = 200 * kMillisecond;
inline constexpr TimeNs kRedialServed = 5 * kSecond;

class Bml final : private TransportSink {
 public:
  explicit Bml(Core& core) : core_(core) {}
  ~Bml();
  Bml(const Bml&) = delete;
  Bml& operator=(const Bml&) = delete;

  // Transports.
  /// Lists every transport of the configuration, closed. Once.
  void add_kinds();
  Status open_transport(const std::string& name);
  /// An order changes what may be dialled: nobody waits out a back-off from before.
  void forget_failed_dials() noexcept;
  /// Destroys the transport and all its paths. The caller has drained them (or the paths count as
  /// lost).
  void close_transport(const std::string& name) noexcept;
  TransportSlot* find_slot(std::string_view name) noexcept;
  std::vector<std::unique_ptr<TransportSlot>>& slots() noexcept { return slots_; }
  void announce_addresses() noexcept;
  /// Has the peer taken our present addresses, so that both ends choose alike?
  bool addresses_known(const Peer& peer) const noexcept {
    return peer.announcements_queued == 0 && peer.tx.acked >= peer.announced;
  }
  std::vector<TransportAddress> own_addresses() const;
  /// The control plane's contact travels beside the transports' addresses.
  void publish_relay(const std::string& relay) noexcept;
  std::vector<std::string> relays() const;
  /// Any thread.
  bool spans_nodes() const noexcept { return spans_nodes_.load(std::memory_order_relaxed); }

  // Peers.
  Result<Destination> resolve(const Address& address);
  Address address_of(ProcessId process, PortNumber port,
                     const std::map<std::string, Blob>& addresses) const;
  Address own_address(PortNumber port) const;
  /// Transports whose contacts go into addresses, the most useful first.
  std::vector<const TransportSlot*> contacted() const;
  Peer& peer(ProcessId process);
  Peer* find_peer(ProcessId process) noexcept;
  template <class Visit>
  void for_each_peer(Visit visit) {
    for (auto& [id, record] : peers_) visit(*record);
  }

  // Peers that nothing reaches; see core::Admin.
  bool seeks() const noexcept { return seeks_.load(std::memory_order_relaxed); }
  std::vector<ProcessId> unreached();
  void introduce(ProcessId process, const Contacts& addresses);
  Contacts contacts() const;

  // Paths.
  /// Transports that the pair reaches now, with their defaults tuned by the routing.
  std::vector<Candidate> reachable(const Peer& peer) const;
  /// The transport that `routing` gives the pair; empty: none.
  std::string choice(const Peer& peer, const Routing& routing) const;
  /// `routing` as it applies to this pair.
  RoutingView view(const Peer& peer, const Routing& routing) const;
  Path* open_path(Peer& peer, std::string_view transport) noexcept;
  bool dialling(const Peer& peer, std::string_view transport) const noexcept;
  /// Makes sure that a path is there or on its way.
  void want_path(Peer& peer) noexcept;
  /// It sends on something, and no order waits for anything better.
  bool served(const Peer& peer) const noexcept;
  /// What the pair reaches has changed: it waits out no back-off from before.
  static void forget_failed_dials(Peer& peer) noexcept;
  /// Starts a connection. false: could not even start (noted for back-off).
  bool dial(Peer& peer, TransportSlot& slot);
  /// Chooses again among the open paths and dials the wanted ones; moves the ordered lane if that
  /// changes it.
  void elect(Peer& peer) noexcept;
  /// Leaves the send path, by a marker, for none. Requires: there is one. why: for the log.
  void stop_sending(Peer& peer, const char* why) noexcept;
  /// Has anything of ours gone by that path, which is in use no more?
  bool left(const Peer& peer, const Path& path) const noexcept;
  // A HOLD, see hold.h: leaves all paths, tells what is still on its way, takes them up again.
  void park(Peer& peer) noexcept;
  std::string unparked(const Peer& peer) const;
  void unpark(Peer& peer) noexcept;
  /// Closes all connections that a machine does not take along (restored, or fenced out).
  void close_connections() noexcept;
  /// Ends the paths on which hello was said as of an incarnation that this process is no more.
  void give_up_greetings() noexcept;
  /// Numbered frames that all peers have sent and that were taken, since the beginning.
  std::uint64_t frames_taken() const noexcept;
  /// Closes a path in good order (by a switch).
  void close_path(Path& path) noexcept;
  void note_down(Path& path) noexcept { down_.push_back(&path); }
  void on_hello(Path& path, Bytes payload) noexcept;
  void on_marker_ack(Path& path, std::uint64_t ordinal) noexcept;
  /// The peer has left this path: by our marker too, unless we send on it.
  static void leave_too(const Peer& peer, Path& path) noexcept;
  void on_peer_path_down(Peer& peer, std::uint64_t path_id) noexcept;
  /// A peer dials by tickets (bml_tickets.cc). payload: hostile.
  void on_ticket(Path& carrier, std::uint64_t path_id, Bytes payload) noexcept;
  void on_ticket_back(Peer& peer, std::uint64_t path_id, Bytes ticket) noexcept;
  void lose_peer(Peer& peer, const std::string& why) noexcept;

  /// Moves the transports. Returns frames moved.
  std::size_t progress_transports(std::size_t frames_max) noexcept;
  /// Clears away broken paths, opens wanted ones. Every progress; cheap when nothing is to do.
  void tidy() noexcept {
    if (!down_.empty() || !graveyard_.empty() || !greeting_.empty() || !tickets_.empty() ||
        !wanting_.empty()) [[unlikely]]
      tidy_up();
  }
  /// Time-outs, probes, late acknowledgements. Every millisecond or so.
  void housekeeping() noexcept;
  /// Frames unacknowledged, queued or owed: is there anything that wants the agent?
  bool work_pending() const noexcept;
  bool any_open_path() const noexcept;
  /// Nothing of ours is on its way to a living peer.
  bool settled() const noexcept;
  /// No broken path waits to be cleared away.
  bool all_cleared() const noexcept { return down_.empty() && graveyard_.empty(); }
  void say_goodbye() noexcept;
  /// Asks peers that owe an acknowledgement for it (a probe answers with one).
  void request_acks() noexcept;
  /// Closes everything at once.
  void shut_down() noexcept;

 private:
  Status check_caps(const std::string& name, const Caps& caps) const;
  void on_accept(std::unique_ptr<Endpoint> endpoint) noexcept override;
  void take_in(TransportSlot& slot, std::unique_ptr<Endpoint> endpoint,
               ProcessId admitted_for = {}) noexcept;
  bool can_dial(const Peer& peer, const TransportSlot& slot) const noexcept;
  std::vector<std::string> to_dial(const Peer& peer) const;
  void exchange_tickets(Path& dialled);
  std::unique_ptr<Endpoint> admit(const std::string& transport, Bytes ticket);
  void flush_tickets() noexcept;
  void tidy_up() noexcept;
  HelloFacts facts(const Peer& peer, std::uint64_t path, std::uint64_t replaces) const;
  void take_step(Path& path, Handshake::Step step) noexcept;
  Handshake::Step answer_hello(Path& path) noexcept;
  RefuseReason judge_hello(Path& path, Peer& peer) noexcept;
  void refused(Path& path, const Handshake::Step& step) noexcept;
  void opened(Path& path) noexcept;
  void remember(Peer& record, const HelloFacts& theirs) noexcept;
  void adopt_path(Path& path, Peer& record) noexcept;
  void fenced_off(Path& path) noexcept;
  void log_refused_stranger(const Path& path, const std::string& text) noexcept;
  bool benign(const Path& path) const noexcept;
  void recover(Peer& peer, Path& path) noexcept;
  bool gave_way(Path& path) noexcept;
  void greet() noexcept;
  bool streams_fit(const Peer& peer, const HelloFacts& theirs) const noexcept;
  void move_send_path(Peer& peer, Path* to) noexcept;
  void note_left_paths(Peer& peer) noexcept;
  void refresh_bulk_paths(Peer& peer) noexcept;
  void mark_left_bulk(Peer& peer) noexcept;
  void flush_hello(Path& path) noexcept;
  void clear_down() noexcept;
  void path_lost(Path& path) noexcept;
  std::unique_ptr<Path> take_out(Path& path) noexcept;
  void dial_failed(Path& path) noexcept;
  void check_path(Peer& peer, Path& path) noexcept;
  /// Asks the other end for a sign of life, on that path; check_path() judges what comes of it.
  void probe(Path& path) noexcept;
  void fail_lost_peers() noexcept;
  void dial_wanted(Peer& peer) noexcept;
  void redial(Peer& peer) noexcept;
  void redial_due(Peer& peer) noexcept;
  void dial_equals(Peer& peer);
  std::vector<std::string> missing_equals(Peer& peer);
  bool failed_lately(const Peer& peer, const std::string& transport) const;
  std::pair<std::uint32_t, std::uint32_t> tuned(const TransportSlot& slot) const;
  void note_cut_off(Peer& peer) noexcept;
  bool connected(const Peer& peer) const noexcept;
  bool dialling(const Peer& peer) const noexcept;
  void seek(const Peer& peer) noexcept;
  bool is_unreached(const Peer& peer) const noexcept;
  void back_off(Peer& peer, const std::string& transport) noexcept;

  Core& core_;
  std::string relay_;                     // of this process; empty: none
  std::atomic<bool> spans_nodes_{false};  // a peer on another node has been met
  std::atomic<bool> seeks_{false};        // unreached() may name somebody; the agent knows
  std::uint32_t addresses_version_ = 1;   // raised with each announcement
  std::vector<std::unique_ptr<TransportSlot>> slots_;
  TransportSlot* accepting_ = nullptr;  // whose progress() runs
  std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
  std::vector<std::unique_ptr<Path>> strangers_;  // accepted, hello not finished
  std::vector<std::unique_ptr<Path>> graveyard_;  // destroyed when no transport call is running
  std::vector<Path*> down_;
  bool said_goodbye_ = false;  // from then on no path's end is a loss, and none is dialled for
  std::vector<Peer*> wanting_;
  TimeNs stranger_logged_ = 0;
  std::vector<Path*> greeting_;  // have a hello message to post
  struct TicketOut {
    ProcessId to;
    FrameKind kind;
    std::uint64_t path;  // to be made
    Blob payload;
  };
  std::vector<TicketOut> tickets_;  // wait to be posted, on whatever open path
  LogLimit tickets_logged_;
  void queue_ticket(Peer& to, FrameKind kind, std::uint64_t path_id, Blob payload);
  bool has_ticket_room(const Peer& peer) noexcept;
  bool admits(const Peer& peer) noexcept;
  bool post_ticket(Peer& peer, const TicketOut& ticket) noexcept;
  void warn_of_tickets(const Peer& peer, const char* what) noexcept;
};

}  // namespace livebtl::core
