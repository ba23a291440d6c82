// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_endpoint_send.cc -- sending half of an endpoint; see tcp_endpoint.h.
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "transports/tcp/tcp_endpoint.h"

namespace livebtl::tcp {
namespace {

/// Up to this size a payload is copied after its header: one piece is cheaper to write than two.
constexpr std::size_t kJoinBytesMax = 512;
/// From this size on a stable payload that has to wait is borrowed, not copied.
constexpr std::size_t kBorrowBytesMin = 4096;
constexpr std::size_t kPiecesPerWrite = 64;

bool borrows(const core::Frame& frame, std::size_t payload_bytes) noexcept {
  return frame.stable && payload_bytes >= kBorrowBytesMin;
}

}  // namespace

core::Post TcpEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(!frame.header.empty() && frame.header.size() <= core::kHeaderBytesMax &&
                     frame.payload.size() <= kPayloadBytesMax,
                 "a frame keeps to the transport's limits");
  if (state_ != State::kOpen) [[unlikely]] {
    if (state_ == State::kDialling) return post_early(frame);
    if (state_ == State::kOwesPreamble) send_preamble(MSG_MORE);
    if (state_ != State::kOpen) return core::Post::kRetry;
  }
  if (!out_.empty()) [[unlikely]]
    return enqueue(frame);
  Head head;
  encode_head(frame, payload_crc_, head);
  const std::size_t written = write_frame(head, frame.payload);
  if (state_ != State::kOpen) [[unlikely]]
    return core::Post::kRetry;
  stats_.count_sent(frame.header.size() + frame.payload.size());
  if (written == head.bytes + frame.payload.size()) [[likely]]
    return core::Post::kDone;
  return enqueue_rest(frame, head.view(), written);
}

/// The first frames, such as a hello, are sent with our preamble, which spares a round trip. If the
/// peer's node is not known, nor is whether its payload needs a checksum.
core::Post TcpEndpoint::post_early(const core::Frame& frame) noexcept {
  if (!dialler_->peer_node()) return core::Post::kRetry;
  Head head;
  encode_head(frame, crc_towards(*dialler_->peer_node()), head);
  if (!dialler_->say_at_once(head.view(), frame.payload)) return core::Post::kRetry;
  early_.count_sent(frame.header.size() + frame.payload.size());
  return core::Post::kDone;
}

/// flags: MSG_MORE if a frame follows at once.
void TcpEndpoint::send_preamble(int flags) noexcept {
  const auto preamble = encode_preamble(shared_.node);
  state_ = State::kOpen;
  const ssize_t sent =
      ::send(fd_.number(), preamble.data(), preamble.size(), MSG_DONTWAIT | MSG_NOSIGNAL | flags);
  if (sent != static_cast<ssize_t>(preamble.size()))
    fail_with(Errc::kDown, "tcp: " + described_ + ": " +
                               (sent < 0 ? errno_text(errno) : "cannot send its preamble"));
}

std::size_t TcpEndpoint::write_frame(Head& head, Bytes payload) noexcept {
  if (payload.size() > kJoinBytesMax) {
    std::array<iovec, 2> pieces{
        {{head.raw.data(), head.bytes}, {const_cast<std::byte*>(payload.data()), payload.size()}}};
    return write_some(pieces);
  }
  std::array<std::byte, sizeof(head.raw) + kJoinBytesMax> joined;
  std::memcpy(joined.data(), head.raw.data(), head.bytes);
  if (!payload.empty()) std::memcpy(joined.data() + head.bytes, payload.data(), payload.size());
  iovec piece{joined.data(), head.bytes + payload.size()};
  return write_some({&piece, 1});
}

/// Queues a frame behind others.
core::Post TcpEndpoint::enqueue(const core::Frame& frame) noexcept {
  const std::size_t bytes = frame.payload.size();
  const std::size_t borrowed = borrows(frame, bytes) ? bytes : 0;
  if (!out_.fits(sizeof(Head::raw) + bytes - borrowed, borrowed)) return core::Post::kRetry;
  Head head;
  encode_head(frame, payload_crc_, head);
  stats_.count_sent(frame.header.size() + frame.payload.size());
  return enqueue_rest(frame, head.view(), 0);
}

/// Queues what the socket did not take of a frame. Fits: the queue was empty, or enqueue() asked.
core::Post TcpEndpoint::enqueue_rest(const core::Frame& frame, Bytes head,
                                     std::size_t written) noexcept {
  if (!out_.has_block()) out_.lend(shared_.out_blocks.take());
  const Bytes head_rest = head.subspan(std::min(written, head.size()));
  const Bytes payload_rest =
      frame.payload.subspan(written > head.size() ? written - head.size() : 0);
  set_backlogged(true);
  if (borrows(frame, payload_rest.size())) {
    out_.push_borrowed(head_rest, payload_rest, frame.cookie);
    return core::Post::kPosted;
  }
  out_.push_copied(head_rest, payload_rest);
  return core::Post::kDone;
}

/// Returns how much the socket took. A broken connection is noted; the next move() reports it.
std::size_t TcpEndpoint::write_some(std::span<iovec> pieces) noexcept {
  ssize_t count = 0;
  do {
    if (pieces.size() == 1) {
      count =
          ::send(fd_.number(), pieces[0].iov_base, pieces[0].iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = pieces.size();
      count = ::sendmsg(fd_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  } while (count < 0 && errno == EINTR);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno != EAGAIN && errno != EWOULDBLOCK) {
    fail_with(Errc::kDown, "tcp: " + described_ + ": " + errno_text(errno));
  }
  return 0;
}

void TcpEndpoint::flush(Turn& turn) noexcept {
  while (!out_.empty() && state_ == State::kOpen) {
    std::array<iovec, kPiecesPerWrite> pieces;
    const auto some = std::span(pieces).first(out_.gather(pieces));
    std::size_t wanted = 0;
    for (const iovec& piece : some) wanted += piece.iov_len;
    const std::size_t written = write_some(some);
    if (written == 0) return;
    turn.frames += out_.consume(written, [this](std::uint64_t cookie) { sink_->on_sent(cookie); });
    if (written < wanted) return;
  }
  if (!out_.empty()) return;
  shared_.out_blocks.put(out_.give_back());
  set_backlogged(false);
}

/// While something waits, epoll also tells when the socket has room.
void TcpEndpoint::set_backlogged(bool backlogged) noexcept {
  if (backlogged_ == backlogged) return;
  backlogged_ = backlogged;
  if (backlogged) {
    ++shared_.backlogged;
  } else {
    --shared_.backlogged;
  }
  if (state_ == State::kOpen) watch(fd_.number(), backlogged ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

}  // namespace livebtl::tcp
