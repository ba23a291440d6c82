// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/bounded_stream.h -- a connection for cpp-httplib with limits: on the bytes of a
// request, on the time for all of it, on the time for the whole answer. The library's own stream
// bounds only each system call, and Debian 12's keeps whatever comes before the first end of line.
//
// Threads: the one that answers this connection.
#pragma once

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.h"

namespace livebtl::tool {

class BoundedStream final : public httplib::Stream {
 public:
  static constexpr std::size_t kRequestBytesMax = 8192;  // Prometheus sends some 400
  static constexpr TimeNs kRequestTime = 2 * kSecond;
  static constexpr TimeNs kAnswerTime = 10 * kSecond;  // Prometheus itself has left by then

  /// The socket stays the caller's.
  explicit BoundedStream(int socket)
      : socket_(socket), read_until_(monotonic_now() + kRequestTime) {}

  bool is_readable() const override { return at_ < end_ || ready(POLLIN, read_until_); }
  bool is_writable() const override { return ready(POLLOUT, write_until()); }

  ssize_t read(char* into, std::size_t size) override {
    if (at_ == end_) {
      const ssize_t got = fill();
      if (got <= 0) return got;
    }
    const std::size_t count = std::min(size, end_ - at_);
    std::memcpy(into, buffer_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }

  /// Writes all of it, or -1.
  ssize_t write(const char* from, std::size_t size) override {
    if (write_until_ == 0) write_until_ = monotonic_now() + kAnswerTime;
    for (std::size_t sent = 0; sent < size;) {
      if (!ready(POLLOUT, write_until_)) return -1;
      const ssize_t count = ::send(socket_, from + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && !is_for_now(errno)) return -1;
      if (count > 0) sent += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(size);
  }

  // Nobody here asks for them.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  static bool is_for_now(int error) { return error == EAGAIN || error == EINTR; }

  TimeNs write_until() const {
    return write_until_ != 0 ? write_until_ : monotonic_now() + kAnswerTime;
  }

  bool ready(short what, TimeNs until) const {
    for (;;) {
      const TimeNs left = until - monotonic_now();
      if (left <= 0) return false;
      pollfd wanted{socket_, what, 0};
      const int came = ::poll(&wanted, 1, static_cast<int>(left / kMillisecond) + 1);
      if (came > 0) return true;
      if (came < 0 && errno != EINTR) return false;
    }
  }

  /// As recv(2). -1 also if the limit is reached, or nothing came in time.
  ssize_t fill() {
    const std::size_t room = std::min(buffer_.size(), left_);
    if (room == 0) return -1;
    for (;;) {
      if (!ready(POLLIN, read_until_)) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), room, MSG_DONTWAIT);
      if (got < 0 && is_for_now(errno)) continue;
      if (got <= 0) return got;
      at_ = 0;
      end_ = static_cast<std::size_t>(got);
      left_ -= end_;
      return got;
    }
  }

  const int socket_;
  const TimeNs read_until_;
  TimeNs write_until_ = 0;  // 0: nothing is written yet
  std::size_t left_ = kRequestBytesMax;
  std::size_t at_ = 0, end_ = 0;  // the part of buffer_ not read yet
  std::array<char, 1024> buffer_;
};

}  // namespace livebtl::tool
