// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous.h -- the placed lane: large messages, puts and gets as an offer (RTS), a request
// for the data (CTS), data and FIN. An offer that exposes all of a message's bytes needs only a FIN,
// if somebody waits for that message.
//
// Threads:   under the engine's lock.
// Ownership: the sender's bytes stay in the user's buffer (no copy is kept) until FIN has come and no
//            posted frame refers to them; the receiver's buffer belongs to the transfer until it
//            completes.
// Giving up: a port or region that goes away has its memory back when the call returns: endpoints
//            let go of it, and the other side is told.
// Loss:      the receiver knows what arrived. When a path of the pair is lost it asks again from its
//            contiguous prefix, with the next attempt; fragments that come twice count once.
#pragma once

#include <optional>
#include <utility>

#include "core/engine/parts.h"
#include "core/lane/copy_choice.h"
#include "core/lane/intervals.h"
#include "core/lane/peer.h"
#include "core/lane/slot_table.h"

namespace livebtl::core {

/// A region as transfers remember it: deregistering it ends those that use it.
struct RegionName {
  std::uint32_t space = 0;
  std::uint64_t key = 0;
  friend bool operator==(const RegionName&, const RegionName&) = default;
};

struct OutTransfer {
  Operation* operation = nullptr;    // null: serves a get out of a region, or is given up
  std::optional<RegionName> region;  // serves a get: its region
  PortNumber read_through = 0;       // ... and our port that is told of it
  PortNumber reader = 0;             // ... and for this port of the peer's
  PortState* port = nullptr;         // whose operation it is
  Peer* peer = nullptr;
  Slice slices[kSlicesMax];
  std::uint8_t slice_count = 0;
  bool one_sided = false;   // a put: completes as such
  bool counted = false;     // ... and counted among the open requests
  bool finished = false;    // FIN has come, or it is given up and the receiver knows
  bool given_up = false;    // by us: the bytes are the user's again
  bool with_offer = false;  // all of it was exposed with the offer
  Errc code = Errc::kOk;
  std::uint64_t bytes = 0;
  std::uint64_t handle = 0;  // the receiver's name, from CTS
  std::uint64_t wanted = 0;
  std::uint64_t asked_offset = 0;  // of the last CTS: all before it has arrived
  std::uint64_t next_offset = 0;
  std::uint64_t ahead_bytes = 0;  // may go without a CTS
  std::uint32_t attempt = 0;
  std::optional<CopyChoice::Way> way;  // chosen, and measured from begun_at on
  TimeNs begun_at = 0;
  std::uint64_t came_before = 0;  // the peer's placed_bytes_in then
  TimeNs waits_since = 0;         // to be exposed with its offer; 0: it does not
  std::uint32_t posted = 0;       // frames in endpoints that refer to the user's bytes

  bool asked_for() const noexcept { return wanted != 0; }
  std::uint64_t total() const noexcept { return asked_for() ? wanted : bytes; }
  /// The end of what may be sent now.
  std::uint64_t end() const noexcept { return asked_for() ? wanted : ahead_bytes; }
  /// It is timed from now on.
  void begin(const Peer& to, TimeNs now) noexcept {
    begun_at = now;
    came_before = to.placed_bytes_in;
  }
  /// Choose again, and time it from then on.
  void choose_way_anew() noexcept {
    begun_at = 0;
    way.reset();
  }
};

struct InTransfer {
  enum class Purpose : std::uint8_t { kReceive, kPut, kGet };
  Purpose purpose = Purpose::kReceive;
  Peer* peer = nullptr;
  PortState* port = nullptr;
  Operation* operation = nullptr;    // the receive or get; null for a put into our region
  std::optional<RegionName> region;  // a put: its region
  Completion completion;             // prepared; given when all has arrived
  MutableSlice slices[kSlicesMax];
  std::uint8_t slice_count = 0;
  RemoteAccess access{};       // a put: what the port is told
  std::uint64_t transfer = 0;  // the sender's name
  std::uint64_t wanted = 0;
  std::uint32_t attempt = 0;
  bool ahead = false;            // data follow the offer, and all of them are wanted
  bool credit_returned = false;  // a receive: the sender has the credit for the offer back
  Intervals arrived;

  /// The role of the frame that tells the peer of its end.
  Role end_role() const noexcept {
    switch (purpose) {
      case Purpose::kReceive:
        return credit_returned ? Role::kAnswersEarly : Role::kAnswersMessage;
      case Purpose::kPut:
        return Role::kAnswersRequest;
      case Purpose::kGet:
        break;
    }
    return Role::kPlain;
  }
};

class Transfers {
 public:
  Transfers(const Context& context, Sender& sender, Receiver& receiver, OneSided& onesided,
            PortTable& ports, PathEvents& events)
      : context_(context),
        sender_(sender),
        receiver_(receiver),
        onesided_(onesided),
        ports_(ports),
        events_(events) {}

  /// Sender: makes the transfer for an offer; the caller puts `name` into the RTS.
  OutTransfer& offer(Peer& peer, PortState* port, Operation* operation,
                     std::span<const Slice> slices, std::uint64_t bytes, std::uint64_t& name);
  /// Sender: a put's offer is on its way, and is one more open request.
  void request_posted(std::uint64_t name) noexcept;
  /// Sender: should this offer's data go ahead on that path? If so, call go_ahead() once posted.
  bool goes_ahead(Peer& peer, const Path& path, std::uint64_t name) noexcept;
  void go_ahead(Peer& peer, std::uint64_t name) noexcept;
  /// Sender: could all that is offered be exposed with the offer, on that path?
  bool may_expose(Peer& peer, const Path& path, std::uint64_t name) noexcept;
  /// ... If it is to be: these bytes, when the offer is posted on that path. Empty: none.
  Bytes to_expose(const Peer& peer, const Path& path, std::uint64_t name) const noexcept;
  /// ... May it still wait until that can be? Called when it has to.
  bool may_wait(std::uint64_t name) noexcept;
  /// ... They were, or were not.
  void exposed(Path& path, std::uint64_t name) noexcept;
  void not_exposed(const Path& path, std::uint64_t name) noexcept;
  /// Sender: the offer was never posted, so nobody is told when it ends.
  void withdraw_offer(std::uint64_t name) noexcept;
  /// Receiver: a matched offer. slices: where it goes; wanted: how much of it (0 ends it at once).
  void fetch(Peer& peer, InTransfer in, std::uint64_t wanted);
  /// Receiver: the same for an offer whose bytes are about to be read where the peer has exposed
  /// them. Nothing is asked for. end_read(): they were, or the peer is asked after all.
  void begin_read(Path& path, InTransfer in, std::uint64_t wanted);
  void end_read(Path& path, Bytes payload) noexcept;
  /// Where they are to be read to; empty: the receive has been given up since.
  MutableBytes read_place(const Path& path) noexcept;
  /// Receiver: all of an offer has arrived, or it cannot be taken (no such region, port,
  /// operation). role: that of the FIN.
  void tell_end(Peer& peer, std::uint64_t transfer, Errc code, Role role, std::uint8_t flags = 0);

  void on_cts(Peer& peer, const FrameHead& head, const CtsBody& cts) noexcept;
  void on_fin(Peer& peer, const FrameHead& head, const FinBody& fin) noexcept;
  void on_data(Path& path, const FrameHead& head, DataBody data, Bytes payload) noexcept;
  /// false: its transfer has ended, or nobody has asked for data that went ahead.
  bool is_wanted(Peer& peer, const FrameHead& head, DataBody data) noexcept {
    return target_of(peer, head, data) != nullptr;
  }
  /// Where the payload of a data frame may be read into directly; empty: nowhere. Never where bytes
  /// have arrived or are arriving: what comes twice may be damaged the second time.
  MutableBytes place(Path& path, const FrameHead& head, DataBody data, std::size_t payload_bytes,
                     bool to_be_checked) noexcept;
  void on_sent(Path& path, std::uint64_t name) noexcept;

  /// Posts data while the paths take it, until bytes_max is reached. Returns frames posted.
  std::size_t pump(Peer& peer, std::size_t bytes_max) noexcept;
  /// A path of the pair is gone, with its posted frames. Asks again for what is missing.
  void path_lost(Peer& peer, Path& path) noexcept;
  void fail_all(Peer& peer) noexcept;
  /// Visits the peer of each offered message that no receive there took. places: slots to look at.
  template <class Visit>
  void for_each_untaken(std::size_t places, Visit visit) const {
    out_.for_each_in(places, [&visit](const OutTransfer& out) {
      if (is_untaken(out)) visit(std::as_const(*out.peer));
    });
  }
  /// Operations of a port that is being closed end with kCancelled.
  void cancel_port(PortState& port) noexcept;
  /// Peers' puts into a region and gets out of it end at the peers with kBadKey.
  void cancel_region(const RegionName& region) noexcept;

 private:
  static bool is_untaken(const OutTransfer& out) noexcept;
  void give_up(std::uint64_t name, OutTransfer& out, Errc code) noexcept;
  void tell_given_up(OutTransfer& out) noexcept;
  void on_given_up(Peer& peer, const FinBody& fin) noexcept;
  void on_first_cts(Peer& peer, OutTransfer& out, std::uint64_t name, bool taken) noexcept;
  void drop_in(std::uint64_t handle, InTransfer& in, Errc code) noexcept;
  template <class Concerned>
  void cancel(Concerned concerned, Errc code) noexcept;
  TimeNs begin_copy(const Path& path, CopyWork::Part part, std::uint64_t total,
                    std::size_t bytes) const noexcept;
  void end_copy(const Path& path, CopyWork::Part part, std::uint64_t total, std::size_t bytes,
                TimeNs begun) const noexcept;
  bool being_placed(const Peer& peer, const DataBody& data, std::uint64_t bytes) const noexcept;
  void take(InTransfer& in, Path& path, const DataBody& data, Bytes payload) noexcept;
  void rewind_outgoing(Peer& peer) noexcept;
  void ask(InTransfer& in, std::uint64_t handle, std::uint8_t flags) noexcept;
  InTransfer* target_of(Peer& peer, const FrameHead& head, DataBody& data) noexcept;
  void ask_again(Peer& peer) noexcept;
  void complete_in(std::uint64_t handle, std::uint8_t fin_flags = 0) noexcept;
  void finish(const InTransfer& in) noexcept;
  std::size_t post_data(Peer& peer, Path& path, OutTransfer& out, std::uint64_t name) noexcept;
  bool exposes(Peer& peer, const Path& path, OutTransfer& out, std::size_t bytes) noexcept;
  bool streams(const Peer& peer, const Caps& caps) const noexcept;
  Post post_piece(Peer& peer, Path& path, const OutTransfer& out, std::uint64_t name,
                  const Slice& piece, bool exposed) noexcept;
  Post post_copied(Peer& peer, Path& path, const OutTransfer& out, std::uint64_t name,
                   const Slice& piece) noexcept;
  void complete_out_if_done(std::uint64_t name) noexcept;
  void complete_out(const OutTransfer& done) noexcept;
  void tell_read(const OutTransfer& done) noexcept;
  Path* pick_path(Peer& peer) noexcept;

  const Context& context_;
  Sender& sender_;
  Receiver& receiver_;
  OneSided& onesided_;
  PortTable& ports_;
  PathEvents& events_;
  SlotTable<OutTransfer> out_;
  SlotTable<InTransfer> in_;
};

/// Copies `bytes` to the place `offset` of scattered memory. Requires: it fits.
void scatter(std::span<const MutableSlice> slices, std::uint64_t offset, Bytes bytes) noexcept;

}  // namespace livebtl::core
