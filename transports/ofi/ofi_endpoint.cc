// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_endpoint.cc -- see ofi_endpoint.h.
#include "transports/ofi/ofi_endpoint.h"

#include <algorithm>

#include "base/assert.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {
namespace {

using messages::credit_for;
using messages::Kind;

constexpr TimeNs kSilence = kSecond;
/// Messages overtake each other by the time that one takes to be fetched, not by seconds.
constexpr TimeNs kMissingTime = 10 * kSecond;
constexpr TimeNs kUnsentTime = 10 * kSecond;  // nothing is taken to send, and nothing comes

}  // namespace

OfiEndpoint::OfiEndpoint(OfiTransport& transport, std::uint64_t token, bool dialled)
    : transport_(transport),
      token_(token),
      state_(dialled ? State::kDialled : State::kAdmitted),
      heard_(transport.now()),
      described_("ofi " + transport.domain().provider() + " " + short_name(token)) {
  transport_.enter(*this);
  first_promised_ = promised_ = told_ = transport_.credits().promise(open_promises_);
}

OfiEndpoint::~OfiEndpoint() {
  part();
  state_ = State::kDown;
  end_lending("a connection ended while memory was lent");
  drop_waiting();
  if (has_peer_) transport_.domain().peers().leave(peer_);
  transport_.leave(*this, open_promises_);
}

void OfiEndpoint::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(sink_ == nullptr, "an endpoint is attached once");
  sink_ = &sink;
  transport_.settle_later(*this);
}

bool OfiEndpoint::may_post() const noexcept {
  return state_ == State::kOpen && credit() > messages::kWordCredit &&
         frames_ < transport_.sends_for_each();
}

core::Post OfiEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.header.size() - 1 < core::kHeaderBytesMax, "a header of 1 to 64 bytes");
  if (frame.payload.size() > kPayloadBytesMax) [[unlikely]]
    return lend(frame);
  if (!may_post()) return core::Post::kRetry;
  Buffer* const buffer = transport_.domain().begin_send(this, peer_, Use::kFrame);
  if (buffer == nullptr) return core::Post::kRetry;
  std::byte* const to = buffer->bytes + sizeof(Route);
  const std::size_t begin = messages::encode_frame(frame, promised_, payload_crc_, to);
  copy_bytes(to + begin, frame.payload.data(), frame.payload.size());
  if (!send(*buffer, begin + frame.payload.size())) return core::Post::kRetry;
  ++frames_;
  ++stats_.frames_sent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  return core::Post::kDone;
}

// in: a message behind room for its route. false: nothing of it went.
bool OfiEndpoint::send(Buffer& buffer, std::size_t bytes) noexcept {
  const Route route{peer_token_, sent_, 0};
  std::memcpy(buffer.bytes, &route, sizeof route);
  if (const long code = transport_.domain().send(buffer, sizeof route + bytes); code != 0) {
    if (unsent_since_ == 0) unsent_since_ = transport_.now();
    if (code != -FI_EAGAIN && failed_.code == Errc::kOk) {
      failed_ = {Errc::kDown,
                 described_ + ": nothing can be sent: " + transport_.domain().explain(code)};
      transport_.settle_later(*this);
    }
    return false;
  }
  unsent_since_ = 0;
  ++sent_;
  told_ = promised_;
  return true;
}

bool OfiEndpoint::say(Kind kind) noexcept {
  if (credit() < credit_for(kind)) return false;
  Buffer* const buffer = transport_.domain().begin_send(this, peer_, Use::kWord);
  if (buffer == nullptr) return false;
  const std::uint32_t fetched = kind == Kind::kFetched ? fetched_ : 0;
  if (!send(*buffer,
            messages::encode_word(kind, promised_, fetched, buffer->bytes + sizeof(Route))))
    return false;
  ++words_;
  return true;
}

// Credit is told as soon as half of what the peer may send has not been told: it can then not be
// stuck, since what it leaves alone is less than the other half.
void OfiEndpoint::tell() noexcept {
  const bool credit_due = promised_ - told_ >= (open_promises_ + 1) / 2;
  if (state_ != State::kOpen || (!credit_due && fetched_ == fetched_told_)) return;
  const Kind word = credit_due ? Kind::kCredit : Kind::kFetched;
  if (say(word)) {
    if (word == Kind::kFetched) fetched_told_ = fetched_;
    return;
  }
  // Once an earlier word has gone, or the peer has said something, it is tried again anyway.
  if (words_ == 0 && credit() >= credit_for(word)) transport_.settle_later(*this);
}

// Promises only grow, and by no more than a peer has buffers.
bool OfiEndpoint::take_promise(std::uint32_t promised) noexcept {
  if (promised - peer_promised_ > Row::kPlaces) return false;
  peer_promised_ = promised;
  return true;
}

void OfiEndpoint::arrived(std::uint32_t number, const Arrived& message) noexcept {
  heard_ = transport_.now();
  unsent_since_ = 0;
  if (state_ == State::kAdmitted) state_ = State::kOpen;
  if (state_ != State::kDown && row_.put(number, message, open_promises_ - (fetch_ ? 1 : 0))) {
    if (fetch_) look_for_bye(message);
    return;
  }
  if (state_ != State::kDown)
    take_down({Errc::kCorrupt, described_ + ": a message with a number that is not its turn"});
  transport_.buffer_free(*message.buffer);  // of none of our promises
}

std::size_t OfiEndpoint::deliver(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  while (moved < frames_max && has_ready()) moved += handle(row_.take()) ? 1 : 0;
  return moved;
}

// in: the next message in the row. true: the sink has had a frame. The buffer is libfabric's again,
// or waits for a payload to be fetched.
bool OfiEndpoint::handle(const Arrived& arrived) noexcept {
  const char* why = nullptr;
  bool frame = false;
  const Bytes bytes{arrived.buffer->bytes + sizeof(Route), arrived.bytes - sizeof(Route)};
  const auto message = messages::decode_message(bytes, payload_accepted_, why);
  if (!message) {
    take_down({Errc::kCorrupt, described_ + ": " + why});
  } else if (!take_promise(message->head.promised)) {
    take_down({Errc::kCorrupt, described_ + ": a promise that cannot be"});
  } else if (message->head.kind == Kind::kFrame) {
    frame = true;
    ++stats_.frames_received;
    stats_.bytes_received += message->header.size() + message->payload.size();
    sink_->on_frame(message->header, message->payload);
  } else if (message->head.kind == Kind::kBye) {
    peer_gone_ = true;
    take_down({Errc::kDown, described_ + ": the peer closed the connection"});
  } else if (message->head.kind == Kind::kLent) {
    if (begin_fetch(*arrived.buffer, *message)) return false;
  } else if (message->head.kind == Kind::kFetched) {
    take_back(message->head.payload_crc);
  } else if (message->head.kind != Kind::kCredit) {
    take_down({Errc::kCorrupt, described_ + ": a word that ofi does not know"});
  }
  buffer_free(*arrived.buffer);
  tell();
  return frame;
}

void OfiEndpoint::buffer_free(Buffer& buffer) noexcept {
  transport_.buffer_free(buffer);
  messages::Credits& credits = transport_.credits();
  credits.used(open_promises_);
  if (state_ != State::kDown) promised_ += credits.promise(open_promises_);
}

void OfiEndpoint::drop_waiting() noexcept {
  for (Arrived left = row_.drop(); left.buffer != nullptr; left = row_.drop())
    buffer_free(*left.buffer);
}

void OfiEndpoint::sent(Use use, long code) noexcept {
  --(use == Use::kFrame ? frames_ : words_);
  if (code != 0) {
    return take_down({Errc::kDown, described_ + ": what was sent did not get there: " +
                                       transport_.domain().explain(code)});
  }
  tell();
}

void OfiEndpoint::settle() noexcept {
  if (failed_.code != Errc::kOk) return take_down(failed_);
  if (fetch_ && !fetch_->under_way()) post_fetch();
  tell();
}

void OfiEndpoint::look(TimeNs now) noexcept {
  if (state_ != State::kOpen) return;
  if (row_.missing_for(now) >= kMissingTime)
    return take_down({Errc::kDown, described_ + ": a message was lost on the way"});
  if (unsent_since_ != 0 && now - unsent_since_ >= kUnsentTime)
    return take_down({Errc::kDown, described_ + ": the provider takes nothing to send"});
  look_at_fetch(now);
  if (state_ != State::kOpen || now - std::max(heard_, asked_) < kSilence) return;
  asked_ = now;
  // It asks whether the peer is there: what fails is told. It must not use up the credit that a
  // word of credit needs.
  if (words_ == 0 && credit() > messages::kWordCredit) (void)say(Kind::kCredit);
}

// The peer hears of it, if it still can.
void OfiEndpoint::part() noexcept {
  if (state_ != State::kOpen || peer_gone_ || say(Kind::kBye)) return;
  transport_.farewells().owe(transport_.domain(), peer_, {peer_token_, sent_, 0}, promised_);
}

void OfiEndpoint::take_down(const Error& why) noexcept {
  if (state_ == State::kDown) return;
  if (sink_ == nullptr) {  // told when somebody listens
    if (failed_.code == Errc::kOk) failed_ = why;
    return;
  }
  part();
  state_ = State::kDown;
  end_lending("a connection broke while memory was lent");
  drop_waiting();
  sink_->on_down(why);
}

}  // namespace livebtl::ofi
