// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/rig.h -- two transports, their endpoints and what these reported, for the
// behaviours.
//
// Ownership: a Rig owns both transports; Links own their endpoints and must die before the Rig.
// Threads:   the caller's alone.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "tests/conformance/conformance.h"

namespace livebtl::conformance {

using core::Endpoint;
using core::Frame;
using core::Post;
using core::Transport;

/// Deadline of every wait: reached only when a transport is broken.
inline constexpr TimeNs kDeadlineNs = 60 * kSecond;

/// `count` bytes that depend only on `seed`.
Blob pattern(std::uint64_t seed, std::size_t count);

/// An endpoint with a sink that records its reports and checks what must hold at any time.
class End final : public core::EndpointSink {
 public:
  struct Received {
    Blob header;
    Blob payload;
  };

  ~End() { endpoint_.reset(); }
  /// Takes and attaches.
  void take(std::unique_ptr<Endpoint> endpoint);
  /// Closes: destroys the endpoint.
  void close();
  bool open() const noexcept { return endpoint_ != nullptr; }
  Endpoint& endpoint() noexcept { return *endpoint_; }

  /// post() of a frame with such a pattern as header and payload (not stable).
  Post post_pattern(std::uint64_t seed, std::size_t header_bytes, std::size_t payload_bytes);

  std::vector<Received> received;
  std::vector<std::uint64_t> sent;  // cookies
  std::vector<Error> downs;
  bool keep_frames = true;  // record whole frames; else only count them
  std::size_t frames = 0;
  std::function<MutableBytes(Bytes header, std::size_t payload_bytes)> place;
  bool wants_exposed = true;
  std::function<void(Bytes header, Bytes payload)> on_each;

 private:
  MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept override;
  bool is_wanted(Bytes) noexcept override { return wants_exposed; }
  void on_frame(Bytes header, Bytes payload) noexcept override;
  void on_sent(std::uint64_t cookie) noexcept override;
  void on_down(const Error& why) noexcept override;

  std::unique_ptr<Endpoint> endpoint_;
};

/// A transport and the endpoints it accepted.
class Side final : public core::TransportSink {
 public:
  explicit Side(std::unique_ptr<Transport> made) : transport(std::move(made)) {}
  ~Side() { accepted.clear(); }

  std::size_t turn(std::size_t frames_max = 64);

  TimeNs ahead = 0;  // of its clock, over the true one
  std::unique_ptr<Transport> transport;
  std::deque<std::unique_ptr<Endpoint>> accepted;

 private:
  void on_accept(std::unique_ptr<Endpoint> endpoint) noexcept override;
};

/// A frame of patterns: what is posted, and what must arrive.
struct Expected {
  std::uint64_t seed = 0;
  std::size_t header_bytes = 1;
  std::size_t payload_bytes = 0;
};

/// Both ends of one connection.
struct Link {
  std::unique_ptr<End> a = std::make_unique<End>();  // the dialler's
  std::unique_ptr<End> b = std::make_unique<End>();  // the acceptor's
};

class Rig {
 public:
  explicit Rig(const Subject& subject);

  Side& a() noexcept { return *a_; }
  Side& b() noexcept { return b_ ? *b_ : *a_; }
  bool loopback() const noexcept { return subject_.loopback; }
  const Subject& subject() const noexcept { return subject_; }
  std::uint32_t payload_max() const noexcept { return a_->transport->caps().payload_bytes_max; }
  std::size_t zero_copy_min() const noexcept { return a_->transport->caps().zero_copy_bytes_min; }
  std::size_t zero_copy_max() const noexcept { return a_->transport->caps().zero_copy_bytes_max; }

  /// Moves both sides.
  void turn();
  /// Moves only the sender's side, to play a receiver at rest. (Loopback: nobody.)
  void turn_sender(Side& sender);
  /// Moves both sides until `condition` holds. false: the deadline passed.
  bool until(const std::function<bool()>& condition);
  /// Asks both, as the engine does after a connection has broken. false: the deadline passed.
  bool until_usable();
  /// Posts while only the sender's side moves. false: never taken.
  bool post_soon(Side& sender, End& end, const Expected& frame);
  /// Many turns, for what must *not* happen.
  void settle();
  /// Many turns, then as many with both clocks advanced: for what only a time-out ends.
  void settle_long();

  /// Starts to connect, and carries the tickets of a transport that connects by them, like the
  /// engine.
  std::unique_ptr<Endpoint> dial(Side& from, Side& to);
  /// Dials from `from` to `to`, and proves the link with one frame, which is not counted. Trusts
  /// both ends.
  Link link(Side& from, Side& to, bool trusted = true);
  Link link() { return link(a(), b()); }

  /// Ends B's transport (its ends must be closed); restarts it.
  void stop_b() { b_.reset(); }
  void start_b();

 private:
  const Subject& subject_;
  std::unique_ptr<Side> a_;
  std::unique_ptr<Side> b_;  // null: loopback
};

/// Posts all of `frames` from `from` and waits until `to` has them; both sides move.
bool transfer(Rig& rig, End& from, End& to, const std::vector<Expected>& frames);
/// CHECKs that what `end` received are the first of `frames`, byte by byte; all of them if `whole`.
void check_received(const End& end, const std::vector<Expected>& frames, bool whole = true);

}  // namespace livebtl::conformance
