// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_dialler.cc -- see tcp_dialler.h.
#include "transports/tcp/tcp_dialler.h"

#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>

namespace livebtl::tcp {
namespace {

/// An empty socket takes them at once.
constexpr std::size_t kFirstWordsMax = 4096;

}  // namespace

Dialler::Dialler(std::vector<SocketAddress> candidates, std::optional<std::uint64_t> peer_node,
                 std::uint64_t own_node, const SocketOptions& options)
    : candidates_(std::move(candidates)), peer_node_(peer_node), options_(options) {
  const auto preamble = encode_preamble(own_node);
  first_words_.assign(preamble.begin(), preamble.end());
}

bool Dialler::say_at_once(Bytes head, Bytes payload) {
  if (connected_ || first_words_.size() + head.size() + payload.size() > kFirstWordsMax)
    return false;
  first_words_.insert(first_words_.end(), head.begin(), head.end());
  first_words_.insert(first_words_.end(), payload.begin(), payload.end());
  return true;
}

Dialler::State Dialler::step(TimeNs now) {
  for (;;) {
    if (!fd_) {
      if (next_ == candidates_.size()) return State::kFailed;
      if (!start(now)) continue;
    }
    if (!connected_)
      see_connected();
    else if (read_answer())
      return State::kOpen;
    if (!fd_) continue;
    if (now < deadline_) return State::kWaiting;
    give_up(connected_ ? "connected, but no answer" : "no answer");
  }
}

bool Dialler::start(TimeNs now) {
  auto fd = start_connect(candidates_[next_], options_);
  if (!fd) {
    give_up(fd.error().text);
    return false;
  }
  fd_ = std::move(*fd);
  deadline_ = now + (next_ + 1 < candidates_.size() ? kNextAddressNs : kPreambleLimitNs);
  return true;
}

/// Gives up if the attempt to connect has failed.
void Dialler::see_failure() {
  pollfd wanted{fd_.number(), POLLOUT, 0};
  if (::poll(&wanted, 1, 0) != 1) return;
  if (const int error = connect_error(fd_.number()); error != 0) give_up(errno_text(error));
}

/// Has the connection been made? If so, sends our first words.
void Dialler::see_connected() {
  const auto remote = remote_end(fd_.number());  // only a connected socket has one
  if (!remote) return see_failure();
  // A port of ours that nobody listens on may be picked as the source port: the socket is then
  // connected to itself.
  local_ = local_end(fd_.number());
  if (local_ == remote) {
    give_up("nobody listens");
    return;
  }
  const ssize_t sent = ::send(fd_.number(), first_words_.data(), first_words_.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno == EAGAIN) return;  // no memory for it now
  if (sent != static_cast<ssize_t>(first_words_.size())) {
    give_up(sent < 0 ? errno_text(errno) : "cannot send");
    return;
  }
  connected_ = true;
}

bool Dialler::read_answer() {
  // Nothing beyond the preamble is read: what follows are frames, for the endpoint.
  const auto room = MutableBytes(answer_).subspan(answer_bytes_);
  const ssize_t count = ::recv(fd_.number(), room.data(), room.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    give_up(count < 0 ? errno_text(errno) : "closed without an answer");
    return false;
  }
  answer_bytes_ += static_cast<std::size_t>(count);
  if (answer_bytes_ < answer_.size()) return false;
  const auto node = decode_preamble(answer_);
  if (!node) {
    give_up("what answers there is not livebtl, or another version");
    return false;
  }
  if (peer_node_ && *peer_node_ != *node) {
    give_up("another node answers there");
    return false;
  }
  answered_node_ = *node;
  return true;
}

void Dialler::give_up(const std::string& why) {
  if (!failures_.empty()) failures_ += "; ";
  failures_ += to_text(candidates_[next_]) + ": " + why;
  ++next_;
  if (fd_ && before_close) before_close(fd_.number());
  fd_.reset();
  connected_ = false;
  answer_bytes_ = 0;
}

std::uint32_t Dialler::events() const noexcept { return connected_ ? EPOLLIN : EPOLLOUT; }

std::string Dialler::targets() const {
  std::string text;
  for (const SocketAddress& candidate : candidates_) {
    if (!text.empty()) text += " ";
    text += to_text(candidate);
  }
  return text;
}

}  // namespace livebtl::tcp
