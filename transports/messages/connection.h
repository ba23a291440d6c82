// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/connection.h -- one connection over a fabric that moves messages: its states,
// the credit that both ends grant, control messages, BYE, reports of zero-copy reads, and counters.
// How its messages reach the wire is up to the endpoint that owns it (DeviceSide).
//
// Life:      a dialler waits for the peer's ticket; an admitted end sends nothing before it hears
//            from the dialler; then open; then down, at times via ending, completed by progress().
// Ownership: an endpoint owns it, and outlives it as its DeviceSide. Sink and credits are borrowed.
// Threads:   the engine's lock.
// Errors:    an impossible message leads to on_down() with kCorrupt.
#pragma once

#include <string>
#include <vector>

#include "base/assert.h"
#include "transports/messages/credits.h"
#include "transports/messages/exposed.h"

namespace livebtl::messages {

/// What a connection asks of its endpoint; never for an ordinary frame.
class DeviceSide {
 public:
  /// granted, read: as in Head. false: not now.
  virtual bool post_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept = 0;
  /// Is a control message under way, whose completion calls Connection::tell()?
  virtual bool control_under_way() const noexcept = 0;
  /// Schedules Connection::settle() for the next progress().
  virtual void settle_later() noexcept = 0;
  /// An open connection ends: sends the peer a BYE, if it can still hear one.
  virtual void send_bye() noexcept = 0;
  /// The connection is down: returns memory to its users, and receive buffers to the device.
  virtual void release() noexcept = 0;

 protected:
  ~DeviceSide() = default;
};

class Connection {
 public:
  enum class State : std::uint8_t { kDialled, kAdmitted, kOpen, kEnding, kDown };
  /// What a message was.
  enum class Taken : std::uint8_t {
    kFrame,    // delivered to the sink
    kControl,  // handled, or it took the connection down
    kExposed,  // a frame whose payload is to be read
    kReads,    // how many exposed buffers the peer has read: take_back()
  };

  /// Shares `credits`, which has room, with others. name: for people. grants_max: the most credit
  /// that a peer may grant at once.
  Connection(DeviceSide& device, Credits& credits, bool dialled, std::string name,
             std::uint32_t grants_max, TimeNs now) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void attach(core::EndpointSink& sink) noexcept;
  core::EndpointSink* sink() const noexcept { return sink_; }
  void trust() noexcept { payload_accepted_ = kPayloadBytesMax; }
  bool trusted() const noexcept { return payload_accepted_ == kPayloadBytesMax; }
  const core::EndpointStats& stats() const noexcept { return stats_; }
  core::EndpointStats& stats() noexcept { return stats_; }
  const std::string& name() const noexcept { return name_; }

  // From dialling to open.
  bool awaits_ticket() const noexcept {
    return state_ == State::kDialled && failed_.code == Errc::kOk;
  }
  /// The peer's ticket is usable. more: appended to the name.
  void meet(std::uint32_t peer_credits, bool payload_crc, const std::string& more);
  /// The outcome of the ticket that a dialler awaited.
  void dialled(const Status& connected, TimeNs now) noexcept;
  bool is_open() const noexcept { return state_ == State::kOpen; }
  bool is_down() const noexcept { return state_ == State::kDown; }
  /// Something came from the peer: an admitted end is open from then on.
  void heard(TimeNs now) noexcept {
    heard_ = now;
    if (state_ == State::kAdmitted) state_ = State::kOpen;
  }
  TimeNs last_heard() const noexcept { return heard_; }

  // Credit, in messages, counted since the connection began; the counts may wrap.
  std::uint32_t credit() const noexcept { return peer_granted_ - sent_; }
  /// Is it open, with credit for a frame?
  bool may_send() const noexcept { return state_ == State::kOpen && credit() > kControlCredit; }
  std::uint32_t granted() const noexcept { return granted_; }
  std::uint32_t first_granted() const noexcept { return first_granted_; }
  /// Granted, and not used yet.
  std::uint32_t open_grants() const noexcept { return open_grants_; }
  /// The number of our next message.
  std::uint32_t next_number() const noexcept { return sent_; }
  bool wants_payload_crc() const noexcept { return payload_crc_; }
  void frame_sent(const core::Frame& frame) noexcept {
    message_sent();
    stats_.count_sent(frame.header.size() + frame.payload.size());
  }
  /// A message's buffer has been given back to the device.
  void buffer_freed() noexcept {
    credits_.used(open_grants_);
    if (state_ != State::kDown) granted_ += credits_.grant(open_grants_);
  }
  /// Sends what the peer should know by now: credit, and buffers that were read.
  void tell() noexcept {
    if (state_ == State::kOpen && (grant_due() || reads_ != reads_told_)) tell_now();
  }
  /// false: no credit for it, or the device does not take it now.
  bool send_control(Kind kind) noexcept;

  /// Takes a message in its buffer, which is needed afterwards only for kExposed. special: the
  /// message, if it is no frame.
  Taken take(Bytes bytes, Message& special) noexcept;
  /// For a message that waits behind a read: is it the BYE of a peer that will not answer the read?
  void look_for_bye(Bytes bytes) noexcept;
  bool peer_has_gone() const noexcept { return peer_gone_; }

  /// in: our buffers that the peer has read, in total. out: those are the user's again.
  template <class Registration>
  void take_back(std::vector<ExposedBuffer<Registration>>& exposed, std::uint32_t read) noexcept;
  /// A payload was read in full. true: the sink received its frame.
  bool deliver_read(Bytes header, Bytes payload, bool intact) noexcept;

  // The end.
  /// settle() will take it down; the first reason counts.
  void note_failure(const Error& why) noexcept {
    if (failed_.code == Errc::kOk) failed_ = why;
  }
  /// Goes down in the next progress().
  void fail(const Error& why) noexcept;
  /// The same, and from now on nothing is sent or taken.
  void end(const Error& why) noexcept;
  /// In progress(). false: it is down, or goes down now.
  bool settle() noexcept;
  /// In progress() only; before attach(), noted for settle().
  void take_down(const Error& why) noexcept;
  /// For an endpoint being destroyed: like take_down(), but tells nobody, and the endpoint releases
  /// what is left.
  void part() noexcept {
    if (state_ == State::kOpen) device_.send_bye();
  }
  void close() noexcept { state_ = State::kDown; }

 private:
  // Due once half of what the peer may send is unannounced. The peer cannot get stuck then, since
  // what it leaves alone is less than the other half.
  bool grant_due() const noexcept { return granted_ - told_ >= (open_grants_ + 1) / 2; }
  void tell_now() noexcept;
  void message_sent() noexcept {
    ++sent_;
    told_ = granted_;
  }
  bool take_grant(std::uint32_t granted) noexcept;
  Taken corrupt(const char* what) noexcept;
  void deliver(Bytes header, Bytes payload) noexcept;
  void peer_closed() noexcept;

  DeviceSide& device_;
  Credits& credits_;
  const std::uint32_t grants_max_;
  core::EndpointSink* sink_ = nullptr;
  State state_;
  bool payload_crc_ = true;
  bool peer_gone_ = false;  // it has said BYE
  std::uint32_t sent_ = 0;
  std::uint32_t peer_granted_ = 0;
  std::uint32_t open_grants_ = 0;
  std::uint32_t granted_ = 0;
  std::uint32_t told_ = 0;           // granted_ in our last message
  std::uint32_t first_granted_ = 0;  // granted_ in our ticket
  std::uint32_t reads_ = 0;          // of the peer's exposed buffers, in total
  std::uint32_t reads_told_ = 0;
  std::uint32_t peer_reads_ = 0;  // of ours, as last reported
  std::size_t payload_accepted_ = core::kUntrustedPayloadMax;
  TimeNs heard_;
  core::EndpointStats stats_;
  Error failed_;  // why it is to go down; kOk: it is not
  std::string name_;
};

template <class Registration>
void Connection::take_back(std::vector<ExposedBuffer<Registration>>& exposed,
                           std::uint32_t read) noexcept {
  if (read - peer_reads_ > exposed.size())
    return take_down({Errc::kCorrupt, name_ + ": the peer has read what was never exposed"});
  // The sink may take all memory back meanwhile.
  while (peer_reads_ != read && !exposed.empty()) {
    const std::uint64_t cookie = exposed.front().cookie;
    exposed.erase(exposed.begin());
    ++peer_reads_;
    sink_->on_sent(cookie);
  }
}

}  // namespace livebtl::messages
