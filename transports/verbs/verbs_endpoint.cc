// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_endpoint.cc -- see verbs_endpoint.h.
#include "transports/verbs/verbs_endpoint.h"

#include "base/assert.h"
#include "transports/verbs/verbs_errors.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {
namespace {

using messages::credit_for;

constexpr TimeNs kSilence = kSecond;

}  // namespace

VerbsEndpoint::VerbsEndpoint(VerbsTransport& transport, std::unique_ptr<QueuePair> pair,
                             bool dialled)
    : transport_(transport),
      pair_(std::move(pair)),
      state_(dialled ? State::kDialled : State::kAdmitted),
      heard_(transport.now()) {
  described_ = "verbs " + transport_.device().name() + " qp " + std::to_string(number());
  transport_.enter(*this);
  first_promised_ = promised_ = told_ = transport_.credits().promise(open_promises_);
}

VerbsEndpoint::~VerbsEndpoint() {
  transport_.leave(*this);
  for (const Arrived& message : early_) buffer_free(message.buffer);
  part();
  end_registrations();
  std::optional<std::uint32_t> held;  // the device may still write there
  if (fetch_ && fetch_->holds_buffer())
    held = fetch_->buffer();
  else if (fetch_)
    buffer_free(fetch_->buffer());
  const bool on_its_way = parting_ && pair_->sends() != 0 && !held;
  transport_.park(std::move(pair_), open_promises_, on_its_way, held);
}

void VerbsEndpoint::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(sink_ == nullptr, "an endpoint is attached once");
  sink_ = &sink;
  waits_ = false;
  transport_.settle_later(*this);
}

void VerbsEndpoint::trust() noexcept { payload_accepted_ = kPayloadBytesMax; }

Blob VerbsEndpoint::ticket() const {
  const PortState& port = transport_.device().port().state;
  Ticket ticket;
  ticket.port = port.address;
  ticket.queue_pair = pair_->number();
  ticket.first_packet = pair_->first_packet();
  ticket.credits = first_promised_;
  ticket.payload_bytes_max = kPayloadBytesMax;
  ticket.node = transport_.node();
  ticket.mtu = port.mtu;
  return encode_ticket(ticket);
}

Status VerbsEndpoint::connect(const Ticket& peer) {
  if (!may_reach(peer.port, transport_.device().port().state.address)) {
    return fail(Errc::kUnreachable, "verbs: the peer's port " + to_text(peer.port.gid) +
                                        " is on another kind of fabric than ours, or has an "
                                        "address of another kind");
  }
  if (peer.payload_bytes_max != kPayloadBytesMax || peer.credits < messages::kCreditFloor) {
    return fail(Errc::kInvalid,
                "verbs: the peer's buffers are of another size; do all processes run the same "
                "livebtl?");
  }
  if (Status connected = pair_->connect(peer); !connected) return connected;
  peer_promised_ = peer.credits;
  payload_crc_ = transport_.wants_payload_crc(peer.node);
  described_ += " " + to_text(transport_.device().port().state.address.gid) + " -> qp " +
                std::to_string(peer.queue_pair) + " " + to_text(peer.port.gid);
  return {};
}

void VerbsEndpoint::take_ticket(Bytes ticket) noexcept {
  if (state_ != State::kDialled || failed_.code != Errc::kOk) return;
  const auto peer = decode_ticket(ticket);
  const Status connected = peer ? connect(*peer) : tl::unexpected(peer.error());
  if (connected) {
    state_ = State::kOpen;
    heard_ = transport_.now();
  } else {
    failed_ = connected.error();
    transport_.settle_later(*this);
  }
}

core::Post VerbsEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.header.size() - 1 < core::kHeaderBytesMax, "a header of 1 to 64 bytes");
  if (frame.payload.size() > kPayloadBytesMax) [[unlikely]]
    return lend(frame);
  if (state_ != State::kOpen || credit() <= messages::kWordCredit) return core::Post::kRetry;
  if (!pair_->send_frame(frame, promised_, payload_crc_)) {
    if (pair_->error() != 0) transport_.settle_later(*this);
    return core::Post::kRetry;
  }
  ++sent_;
  told_ = promised_;
  ++stats_.frames_sent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  return core::Post::kDone;
}

bool VerbsEndpoint::say(Kind kind) noexcept {
  if (credit() < credit_for(kind) ||
      !pair_->send_word(kind, promised_, kind == Kind::kFetched ? fetched_ : 0))
    return false;
  ++sent_;
  told_ = promised_;
  return true;
}

// Credit is told as soon as half of what the peer may send has not been told: it can then not be
// stuck, since what it leaves alone is less than the other half.
void VerbsEndpoint::tell() noexcept {
  const bool credit_due = promised_ - told_ >= (open_promises_ + 1) / 2;
  if (state_ != State::kOpen || (!credit_due && fetched_ == fetched_told_)) return;
  const Kind word = credit_due ? Kind::kCredit : Kind::kFetched;
  if (say(word)) {
    if (word == Kind::kFetched) fetched_told_ = fetched_;
    return;
  }
  // Once an earlier word has arrived, or the peer has said something, it is tried again anyway.
  if (pair_->words() == 0 && credit() >= credit_for(word)) transport_.settle_later(*this);
}

// Promises only grow, and by no more than a peer has buffers.
bool VerbsEndpoint::take_promise(std::uint32_t promised) noexcept {
  constexpr std::uint32_t kGrowthMax = 1u << 16;
  if (promised - peer_promised_ > kGrowthMax) return false;
  peer_promised_ = promised;
  return true;
}

bool VerbsEndpoint::arrived(const Arrived& message) noexcept {
  heard_ = transport_.now();
  if (state_ == State::kAdmitted) state_ = State::kOpen;
  if (state_ == State::kOpen && (waits_ || !early_.empty())) {
    early_.push_back(message);
    if (fetch_)
      look_for_bye(message);
    else if (sink_ != nullptr)
      transport_.settle_later(*this);
    return false;
  }
  return handle(message);
}

std::size_t VerbsEndpoint::deliver_early(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  while (has_early() && moved < frames_max) {
    const Arrived message = early_.front();
    early_.pop_front();
    if (handle(message)) ++moved;
  }
  return moved;
}

// in: a message in its buffer. out: the sink has had it, and the buffer is the device's again; or
// its payload is being fetched, by way of that buffer.
bool VerbsEndpoint::handle(const Arrived& arrived) noexcept {
  bool frame = false;
  if (state_ == State::kOpen) {
    const char* why = nullptr;
    const auto message = messages::decode_message(
        transport_.device().received(arrived.buffer, arrived.bytes), payload_accepted_, why);
    if (!message) {
      take_down({Errc::kCorrupt, described_ + ": " + why});
    } else if (!take_promise(message->head.promised)) {
      take_down({Errc::kCorrupt, described_ + ": the peer promises less than before"});
    } else if (message->head.kind == Kind::kFrame) {
      frame = true;
      ++stats_.frames_received;
      stats_.bytes_received += message->header.size() + message->payload.size();
      sink_->on_frame(message->header, message->payload);
    } else if (take(arrived, *message)) {
      return false;
    }
  }
  buffer_free(arrived.buffer);
  tell();
  return frame;
}

void VerbsEndpoint::buffer_free(std::uint32_t buffer) noexcept {
  transport_.buffer_free(buffer);
  messages::Credits& credits = transport_.credits();
  credits.used(open_promises_);
  if (state_ != State::kDown) promised_ += credits.promise(open_promises_);
}

void VerbsEndpoint::peer_answered() noexcept {
  heard_ = transport_.now();
  tell();
}

void VerbsEndpoint::settle() noexcept {
  if (state_ == State::kDown) return;
  if (failed_.code == Errc::kOk && pair_->error() != 0) {
    failed_ = {Errc::kDown,
               described_ + ": the device takes nothing to send: " + errno_text(pair_->error())};
  }
  if (failed_.code != Errc::kOk) return take_down(failed_);
  if (fetch_ && !fetch_->under_way() && !fetch_->post(*pair_)) transport_.settle_later(*this);
  tell();
}

void VerbsEndpoint::ask_if_silent(TimeNs now) noexcept {
  if (state_ != State::kOpen || now - heard_ < kSilence) return;
  if (!pair_->send_nothing() && pair_->error() != 0) transport_.settle_later(*this);
}

// The peer hears of it, if it still can.
void VerbsEndpoint::part() noexcept {
  if (state_ == State::kOpen && !parting_) parting_ = say(Kind::kBye);
}

void VerbsEndpoint::take_down(const Error& why) noexcept {
  if (state_ == State::kDown) return;
  if (sink_ == nullptr) {  // told when somebody listens
    if (failed_.code == Errc::kOk) failed_ = why;
    return;
  }
  part();
  state_ = State::kDown;
  end_registrations();
  for (; !early_.empty(); early_.pop_front()) buffer_free(early_.front().buffer);
  sink_->on_down(why);
}

}  // namespace livebtl::verbs
