// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous.cc -- large messages, puts and gets at the end that has the bytes: offers
// them, and takes requests. See rendezvous.h; rendezvous_data.cc sends the bytes,
// rendezvous_fetch.cc is the other end.
#include "core/lane/rendezvous.h"

#include <algorithm>

#include "core/engine/context.h"
#include "core/lane/onesided.h"
#include "core/lane/pieces.h"
#include "core/lane/port_state.h"
#include "core/lane/receive_end.h"
#include "core/lane/send.h"

namespace livebtl::core {

OutTransfer& Transfers::offer(Peer& peer, PortState* port, Operation* operation,
                              std::span<const Slice> slices, std::uint64_t bytes,
                              std::uint64_t& name) {
  OutTransfer& out = out_.acquire(name);
  out.operation = operation;
  out.port = port;
  out.peer = &peer;
  ++peer.transfers_open;
  out.bytes = bytes;
  out.slice_count = static_cast<std::uint8_t>(slices.size());
  std::copy(slices.begin(), slices.end(), out.slices);
  return out;
}

void Transfers::request_posted(std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  out->counted = true;
}

// Not behind other data of the pair, where they would arrive no sooner, nor beside other bulk
// paths, where they could overtake the offer and be dropped.
bool Transfers::goes_ahead(Peer& peer, const Path& path, std::uint64_t name) noexcept {
  const bool alone = peer.bulk_paths.size() == 1 && peer.bulk_paths.front() == &path;
  return alone && peer.sending.empty() && peer.transfers_asked == 0 && peer.ahead.choose(name);
}

void Transfers::go_ahead(Peer& peer, std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that was posted just now has its transfer");
  out->ahead_bytes = std::min(out->bytes, SentAhead::kBytesMax);
  peer.sending.push_back(name);
}

void Transfers::on_cts(Peer& peer, const FrameHead& head, const CtsBody& cts) noexcept {
  OutTransfer* out = out_.find(cts.transfer);
  // Late or made up: an attempt that was overtaken, or one that asks for more than was offered.
  if (out == nullptr || out->peer != &peer || out->finished || cts.length > out->bytes ||
      cts.offset > cts.length)
    return;
  if (!sender_.was_posted(peer, out->operation)) return;
  if (cts.attempt < out->attempt) return;
  out->handle = cts.handle;
  if (out->given_up) {
    tell_given_up(*out);
    return complete_out_if_done(cts.transfer);
  }
  const bool first = !out->asked_for();
  out->wanted = cts.length;
  if (first && out->asked_for()) ++peer.transfers_asked;
  if (!first && !out->asked_for()) --peer.transfers_asked;
  out->attempt = cts.attempt;
  out->asked_offset = cts.offset;
  const bool taken = first && (head.flags & kFlagAhead) != 0;
  if (!taken) out->next_offset = cts.offset;
  if (first) on_first_cts(peer, *out, cts.transfer, taken);
  if (std::find(peer.sending.begin(), peer.sending.end(), cts.transfer) == peer.sending.end())
    peer.sending.push_back(cts.transfer);
  sender_.mark_dirty(peer);
}

// taken: all that went ahead of it counts. Else the transfer begins only now, whatever way it goes.
void Transfers::on_first_cts(Peer& peer, OutTransfer& out, std::uint64_t name,
                             bool taken) noexcept {
  if (out.with_offer) peer.exposes_offers.answered(false);
  if (!taken && out.way) out.begin(peer, context_.config.now());
  if (peer.ahead.transfer != name) return;
  peer.ahead.answered(taken);
  if (!taken) out.choose_way_anew();
}

void Transfers::on_fin(Peer& peer, const FrameHead& head, const FinBody& fin) noexcept {
  if ((head.flags & kFlagGivenUp) != 0) return on_given_up(peer, fin);
  OutTransfer* out = out_.find(fin.operation);
  if (out == nullptr || out->peer != &peer || out->finished) return;
  if (!sender_.was_posted(peer, out->operation)) return;
  out->finished = true;
  if (out->region) peer.rx.end_request();
  if (!out->given_up) out->code = static_cast<Errc>(fin.code);
  // If discarded, or taken by a receive without room, it ends unasked and says nothing of the way.
  const bool read = out->with_offer && (head.flags & kFlagAhead) != 0;
  if (read) peer.exposes_offers.answered(true);
  const bool went = out->asked_for() || read;
  if (out->way && went && out->code == Errc::kOk && out->attempt == 0)
    peer.copies.took(*out->way, out->total(), peer.placed_bytes_in - out->came_before,
                     out->begun_at, context_.config.now());
  complete_out_if_done(fin.operation);
}

void Transfers::complete_out_if_done(std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  if (out == nullptr || !out->finished || out->posted != 0) return;
  std::erase(out->peer->sending, name);
  out->peer->ahead.ended(name);
  const OutTransfer done = *out;
  if (done.asked_for()) --done.peer->transfers_asked;
  --done.peer->transfers_open;
  out_.release(name);
  if (done.counted) sender_.request_ended(*done.peer);
  if (done.operation != nullptr) return complete_out(done);
  if (done.region && done.code == Errc::kOk) tell_read(done);
}

void Transfers::tell_read(const OutTransfer& done) noexcept {
  PortState* const port = ports_.find(done.read_through);
  // Closed meanwhile; another port may have its number, and must not hear of other spaces.
  if (port == nullptr || port->options.space != done.region->space) return;
  port->tell_remote_access(
      {{done.peer, done.reader}, Access::kRead, done.region->key, done.bytes, {}});
}

void Transfers::complete_out(const OutTransfer& done) noexcept {
  const Completion completion{.code = done.code, .bytes = done.bytes};
  if (done.one_sided) return onesided_.complete(*done.operation, completion);
  end_operation(*done.operation, completion);
}

void Transfers::on_sent(Path& path, std::uint64_t name) noexcept {
  LIVEBTL_ASSERT(!path.posted.empty() && path.posted.front() == name,
                 "endpoints complete frames in order");
  path.posted.pop_front();
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr && out->posted != 0,
                 "a posted transfer stays until its frames are sent");
  --out->posted;
  if (out->given_up && !path.keeps) --path.given_up_posted;
  complete_out_if_done(name);
}

void Transfers::path_lost(Peer& peer, Path& path) noexcept {
  // What was posted there no longer refers to users' bytes: the endpoint is gone.
  for (const std::uint64_t name : path.posted) {
    OutTransfer* out = out_.find(name);
    LIVEBTL_ASSERT(out != nullptr, "a posted transfer stays until its frames are sent");
    --out->posted;
  }
  const std::deque<std::uint64_t> posted = std::exchange(path.posted, {});
  for (const std::uint64_t name : posted) complete_out_if_done(name);
  rewind_outgoing(peer);
  ask_again(peer);
}

// The receiver may have lost the path before we did, and asked again before we posted what is lost
// now: it does not ask a second time. What comes twice counts once.
void Transfers::rewind_outgoing(Peer& peer) noexcept {
  out_.for_each([&](std::uint64_t name, OutTransfer& out) {
    if (out.peer != &peer || out.finished) return;
    out.next_offset = out.asked_offset;
    if (!out.asked_for()) out.ahead_bytes = 0;  // starts over, whatever the receiver says of it
    if (out.end() == 0) return;
    if (std::find(peer.sending.begin(), peer.sending.end(), name) == peer.sending.end())
      peer.sending.push_back(name);
  });
  sender_.mark_dirty(peer);
}

void Path::on_sent(std::uint64_t cookie) noexcept {
  ++sent;
  parts_.transfers.on_sent(*this, cookie);
}

}  // namespace livebtl::core
