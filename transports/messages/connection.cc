// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/connection.cc -- see connection.h.
#include "transports/messages/connection.h"

#include <utility>

namespace livebtl::messages {

Connection::Connection(DeviceSide& device, Credits& credits, bool dialled, std::string name,
                       std::uint32_t grants_max, TimeNs now) noexcept
    : device_(device),
      credits_(credits),
      grants_max_(grants_max),
      state_(dialled ? State::kDialled : State::kAdmitted),
      heard_(now),
      name_(std::move(name)) {
  credits_.enter();
  first_granted_ = granted_ = told_ = credits_.grant(open_grants_);
}

void Connection::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(sink_ == nullptr, "an endpoint is attached once");
  sink_ = &sink;
  device_.settle_later();
}

void Connection::meet(std::uint32_t peer_credits, bool payload_crc, const std::string& more) {
  peer_granted_ = peer_credits;
  payload_crc_ = payload_crc;
  name_ += more;
}

void Connection::dialled(const Status& connected, TimeNs now) noexcept {
  if (!connected) return fail(connected.error());
  state_ = State::kOpen;
  heard_ = now;
}

bool Connection::send_control(Kind kind) noexcept {
  if (credit() < credit_for(kind) ||
      !device_.post_control(kind, granted_, kind == Kind::kReads ? reads_ : 0))
    return false;
  message_sent();
  return true;
}

void Connection::tell_now() noexcept {
  const Kind kind = grant_due() ? Kind::kCredit : Kind::kReads;
  if (send_control(kind)) {
    if (kind == Kind::kReads) reads_told_ = reads_;
    return;
  }
  // Otherwise it is retried anyway when an earlier control message has gone or the peer sends
  // something.
  if (!device_.control_under_way() && credit() >= credit_for(kind)) device_.settle_later();
}

// Grants only grow, and by no more than a peer has buffers.
bool Connection::take_grant(std::uint32_t granted) noexcept {
  if (granted - peer_granted_ > grants_max_) return false;
  peer_granted_ = granted;
  return true;
}

Connection::Taken Connection::corrupt(const char* what) noexcept {
  take_down({Errc::kCorrupt, name_ + ": " + what});
  return Taken::kControl;
}

void Connection::deliver(Bytes header, Bytes payload) noexcept {
  stats_.count_received(header.size() + payload.size());
  sink_->on_frame(header, payload);
}

Connection::Taken Connection::take(Bytes bytes, Message& special) noexcept {
  if (state_ != State::kOpen) return Taken::kControl;
  const char* why = nullptr;
  const auto message = decode_message(bytes, payload_accepted_, why);
  if (!message) return corrupt(why);
  if (!take_grant(message->head.granted)) return corrupt("a credit grant that cannot be");
  if (message->head.kind == Kind::kFrame) {
    deliver(message->header, message->payload);
    return Taken::kFrame;
  }
  special = *message;
  if (message->head.kind == Kind::kExposed) return Taken::kExposed;
  if (message->head.kind == Kind::kReads) return Taken::kReads;
  if (message->head.kind == Kind::kBye) peer_closed();
  return Taken::kControl;
}

void Connection::look_for_bye(Bytes bytes) noexcept {
  const char* why = nullptr;
  const auto message = decode_message(bytes, payload_accepted_, why);
  if (message && message->head.kind == Kind::kBye) peer_closed();
}

void Connection::peer_closed() noexcept {
  peer_gone_ = true;
  take_down({Errc::kDown, name_ + ": the peer closed the connection"});
}

bool Connection::deliver_read(Bytes header, Bytes payload, bool intact) noexcept {
  if (!intact) {
    corrupt("a wrong checksum over a payload");
    return false;
  }
  ++reads_;
  ++stats_.frames_read_remotely;
  deliver(header, payload);
  return true;
}

void Connection::fail(const Error& why) noexcept {
  note_failure(why);
  device_.settle_later();
}

void Connection::end(const Error& why) noexcept {
  state_ = State::kEnding;
  failed_ = why;
  device_.settle_later();
}

bool Connection::settle() noexcept {
  if (failed_.code == Errc::kOk) return state_ != State::kDown;
  take_down(failed_);
  return false;
}

void Connection::take_down(const Error& why) noexcept {
  if (state_ == State::kDown) return;
  if (sink_ == nullptr) return note_failure(why);  // reported after attach()
  part();
  state_ = State::kDown;
  device_.release();
  sink_->on_down(why);
}

}  // namespace livebtl::messages
