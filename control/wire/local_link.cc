// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_link.cc -- see local_link.h.
#include "control/wire/local_link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "control/wire/local_frame.h"
#include "control/wire/unix_address.h"

namespace livebtl::control {
namespace {

Errc code_of(int error) noexcept {
  if (error == ENOENT || error == ECONNREFUSED) return Errc::kUnreachable;
  if (error == EAGAIN) return Errc::kLimit;
  return error == EMFILE || error == ENFILE ? Errc::kNoMemory : Errc::kSystem;
}

tl::unexpected<Error> cannot(const std::string& path, int error) {
  return fail(code_of(error), "cannot connect to " + path + ": " + std::strerror(error));
}

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};  // sendmsg() only reads it
}

}  // namespace

Result<LocalLink> LocalLink::connect(const std::string& path) {
  const auto address = unix_address(path);
  if (!address) return cannot(path, ENAMETOOLONG);
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return cannot(path, errno);
  if (::connect(fd.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return cannot(path, errno);
  }
  return LocalLink(std::move(fd));
}

std::optional<uid_t> LocalLink::listener() const noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(fd_.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer.uid;
}

std::optional<Envelope> LocalLink::receive() {
  while (!ended_) {
    std::array<char, kLocalPacketMax> packet;
    const ssize_t count =
        ::recv(fd_.number(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) return std::nullopt;
    if (count > 0 && static_cast<std::size_t>(count) <= packet.size()) {
      auto envelope = parse_local({packet.data(), static_cast<std::size_t>(count)});
      if (envelope) return envelope;
    }
    end();
  }
  return std::nullopt;
}

LocalLink::Sent LocalLink::send_packet(std::string_view head, std::string_view back,
                                       std::string_view to, std::string_view body) {
  std::array<iovec, 4> pieces{piece(head), piece(back), piece(to), piece(body)};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  for (;;) {
    if (::sendmsg(fd_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Sent::kYes;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? Sent::kFull : Sent::kNever;
  }
}

/// After a send error, the connection is left to receive(): what the other side said before it went
/// is still to be read.
bool LocalLink::send(const Envelope& envelope) {
  const auto head = local_head(envelope);
  if (ended_ || !head) return false;
  flush();
  if (queue_.empty()) {
    const std::string_view text(reinterpret_cast<const char*>(head->data()), head->size());
    const Sent sent = send_packet(text, envelope.back, envelope.to, envelope.body);
    if (sent != Sent::kFull) return sent == Sent::kYes;
  }
  auto packet = format_local(envelope);
  if (!packet || queue_.size() == kQueueMax || queue_bytes_ + packet->size() > kQueueBytesMax) {
    return false;
  }
  queue_bytes_ += packet->size();
  queue_.push_back(std::move(*packet));
  return true;
}

void LocalLink::flush() {
  while (!ended_ && !queue_.empty()) {
    if (send_packet(queue_.front(), "", "", "") == Sent::kFull) return;
    queue_bytes_ -= queue_.front().size();
    queue_.pop_front();
  }
}

void LocalLink::end() {
  ended_ = true;
  queue_.clear();
  queue_bytes_ = 0;
}

}  // namespace livebtl::control
