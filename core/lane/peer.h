// SPDX-License-Identifier: BSD-3-Clause
// core/lane/peer.h -- the record of another process: its identity, its two lanes, its paths.
//
// Threads: under the engine's lock. Ownership: the BML owns Peers; a Peer owns its Paths and its
// queued frames.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hex.h"
#include "core/engine/config.h"
#include "core/lane/ahead.h"
#include "core/lane/copy_choice.h"
#include "core/lane/reorder.h"
#include "core/lane/role.h"
#include "core/lane/tx_lane.h"
#include "core/path/path.h"
#include "core/switch/settle.h"
#include "livebtl/port.h"

namespace livebtl::core {

/// The receiving half.
struct RxLane {
  Reorder reorder;
  std::uint64_t messages_received = 0;
  std::uint64_t ack_sent = 1;     // last acknowledgement sent
  std::size_t unacked_bytes = 0;  // taken since then
  bool ack_wanted = false;
  std::uint64_t released_bytes = 0, released_headers = 0;
  std::uint64_t advertised_bytes = 0, advertised_headers = 0;
  // What is kept here now of what the peer has credit for, and its unanswered requests. Nothing
  // that is consumed on arrival is counted.
  std::uint64_t held_bytes = 0, held_headers = 0;
  std::uint64_t open_requests = 0;
  // Messages whose credit went back when they were stored, which were received since, but whose
  // last answers are not posted.
  std::uint64_t early_answers = 0;
  // These, or a lack of memory, kept credit from going back early: Receiver::give_back_kept().
  bool keeps_credit = false;
  // Releases beyond these trigger an ACK. They are the announced totals, plus a quarter of the
  // limits unless the peer has asked.
  std::uint64_t due_bytes = 0, due_headers = 0;
  TakenAhead ahead;

  /// One more message was received, and is not kept.
  void took(std::size_t bytes) noexcept {
    ++messages_received;
    ++released_headers;
    released_bytes += bytes;
  }
  /// One more message is kept. false: an honest peer sends less.
  bool hold(std::size_t bytes, const Settings& settings) noexcept {
    held_bytes += bytes;
    ++held_headers;
    return held_bytes <= settings.credit_bytes && held_headers <= settings.credit_headers;
  }
  /// That much of what was kept is gone, and the peer may send as much again.
  void give_back(std::size_t bytes, std::uint32_t headers) noexcept {
    held_bytes -= bytes;
    held_headers -= headers;
    released_bytes += bytes;
    released_headers += headers;
  }
  /// One more request is to be answered. false: an honest peer never has so many open. It keeps to
  /// half that; but it stops counting puts that it gives up, while our answers may still wait.
  bool take_request(const Settings& settings) noexcept {
    return ++open_requests <= 2ULL * std::min(settings.credit_headers, kOpenRequestsMax);
  }
  void end_request() noexcept {
    if (open_requests != 0) --open_requests;
  }

  bool credit_due() const noexcept {
    return released_bytes > due_bytes || released_headers > due_headers;
  }
  /// All credit is announced now. If any was new, a peer that asked has its answer.
  void on_credit_told(const Settings& settings) noexcept {
    const bool news = released_bytes != advertised_bytes || released_headers != advertised_headers;
    advertised_bytes = released_bytes;
    advertised_headers = released_headers;
    if (news) tell_by_quarters(settings);
  }
  void tell_by_quarters(const Settings& settings) noexcept {
    due_bytes = advertised_bytes + settings.credit_bytes / 4;
    due_headers = advertised_headers + settings.credit_headers / 4;
  }
  /// The peer waits for credit, or asks about it.
  void on_credit_asked() noexcept {
    due_bytes = advertised_bytes;
    due_headers = advertised_headers;
  }

  explicit RxLane(std::uint64_t first_seq)
      : reorder(kReorderBytesMax, first_seq), ack_sent(first_seq) {}
};

/// When this peer may be dialled (again). For the Dialler.
struct Dials {
  TimeNs after = 0;           // not before, if something is missing
  TimeNs look_at = 0;         // nothing known to dial: look again then, or when told of something
  TimeNs delay = 0;           // the back-off before `after`; doubles with each failure
  bool again = false;         // dials again at `after`; see Peer::wants_path
  TimeNs in_vain_since = 0;   // the first failed dial while there was no path to send on
  bool in_vain_told = false;  // told to the user, once
  std::map<std::string, TimeNs> failed_until;  // transports that recently could not be dialled
  std::map<std::string, TimeNs> yields_until;  // transports that the other end dials first

  /// What the pair can reach has changed: earlier back-offs no longer count.
  void forget() noexcept {
    on_open();
    after = look_at = 0;
  }
  /// A path has opened.
  void on_open() noexcept {
    failed_until.clear();
    yields_until.clear();
    delay = in_vain_since = 0;
    in_vain_told = false;
  }
};

struct PeerCounts {
  std::uint64_t retransmitted = 0, duplicates = 0, reordered = 0;
};

}  // namespace livebtl::core

namespace livebtl {

struct Peer {
  explicit Peer(ProcessId id, std::uint64_t first_seq) : process(id), rx(first_seq) {
    tx.next_seq = tx.acked = first_seq;
  }

  ProcessId process;
  std::string label;
  std::string node;                       // node_name(); "": not known yet
  std::map<std::string, Blob> addresses;  // by transport; contact of an Address, or whole (hello)
  core::TxLane tx;
  core::RxLane rx;
  core::Path* send_path = nullptr;  // the ordered lane's; null: none open yet
  std::vector<std::unique_ptr<core::Path>> paths;
  std::map<std::uint64_t, Operation*> awaiting_done;  // delivery_complete sends, by frame number
  std::map<std::string, core::EndpointStats> closed_stats;  // of paths that are gone, by transport
  core::PeerCounts counts;
  std::uint32_t queued_injects = 0;        // injected copies that wait
  std::uint32_t announcements_queued = 0;  // of our addresses, not posted yet
  std::uint64_t announced = 0;             // once `acked` reaches this, the last one is taken
  std::uint32_t generation = 0;            // raised by each change of the path set
  core::Dials dials;
  TimeNs cut_off_since = 0;  // no transport reaches it; 0: one does
  bool cut_off_told = false;
  std::map<std::string, core::Settle> returns;  // to transports on which a path was lost
  std::vector<std::uint64_t> sending;           // transfers with data still to post (rendezvous.h)
  std::uint32_t tickets_waiting = 0;            // for a path that takes them (core/bml/tickets.h)
  std::uint32_t transfers_asked = 0;            // of ours: the peer asked for data and lacks some
  std::uint32_t transfers_open = 0;     // both ways, from the offer to the end (rendezvous.h)
  std::vector<core::Path*> bulk_paths;  // the placed lane's; striped by weight
  core::CopyChoice copies;
  std::uint64_t placed_bytes_in = 0;  // of large messages, so far
  core::SentAhead ahead;
  core::Eagerness exposes_offers;
  std::map<std::string, std::uint64_t> lost_paths;  // by transport: path id a redial replaces
  std::string fatal_refusal;                        // why the peer will never talk to us again
  TimeNs lost_at = 0;
  std::uint64_t sent_until = 0;  // if departed: the number after the last frame it meant to send
  bool dirty = false;            // in the sender's list: has something to send
  bool wants_path = false;       // in the BML's list: is dialled at the next turn
  bool met = false;              // Peers::meet()
  bool departed = false;         // said goodbye
  bool lost = false;             // proved dead, or inconsistent; operations fail after a delay
  bool failed = false;           // ... they have failed; nothing is queued for it; record retired

  bool has_to_send() const noexcept {
    return !tx.idle() || !tx.requests.empty() || !sending.empty();
  }
  /// Something that the peer knows of, or has begun, has not ended.
  bool has_unfinished() const noexcept {
    return transfers_open != 0 || tx.open_requests != 0 || !awaiting_done.empty();
  }
  /// Some path to it is open.
  bool connected() const noexcept {
    return std::ranges::any_of(paths, [](const auto& path) { return path->open(); });
  }
  /// It has taken our current addresses, so that both ends choose alike.
  bool knows_our_addresses() const noexcept {
    return announcements_queued == 0 && tx.acked >= announced;
  }
  /// On a path that does not keep, an acknowledgement rides on other frames or is asked for: nobody
  /// waits for it.
  bool owes_acknowledgement() const noexcept {
    return send_path != nullptr && send_path->keeps && rx.ack_sent != rx.reorder.expected();
  }
  /// Of a peer that said goodbye: frames that have not arrived.
  std::uint64_t frames_missing() const noexcept {
    return departed && sent_until > rx.reorder.expected() ? sent_until - rx.reorder.expected() : 0;
  }
  /// It said goodbye, and nothing is missing.
  bool left_well() const noexcept { return departed && frames_missing() == 0; }
  /// For people.
  std::string name() const {
    const std::string id = hex_digits(static_cast<std::uint64_t>(process), 16);
    return label.empty() ? "process " + id : label + " (" + id + ")";
  }
};

}  // namespace livebtl
