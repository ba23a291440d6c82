// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/qmp/scripted_peer.h -- the other end of a socket, for tests: what it will
// say is written into the socket beforehand, what was said to it is read afterwards. One thread;
// owns its end.
#pragma once

#include <sys/socket.h>

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "hypervisor/qmp/json_line_socket.h"

namespace livebtl::hypervisor {

inline Deadline long_enough() { return {monotonic_now() + 60 * kSecond, nullptr}; }
inline Deadline none_left() { return {monotonic_now(), nullptr}; }

class ScriptedPeer {
 public:
  ScriptedPeer() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    here_ = Fd(ends[0]);
    there_ = Fd(ends[1]);
  }

  JsonLineSocket socket() { return JsonLineSocket(std::move(there_), "peer"); }

  /// Beforehand as well; the socket's buffer holds some 200 KiB.
  void says(const std::string& text) {
    REQUIRE(::send(here_.number(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  /// Says as much of it as the socket's buffer has room for; false: nothing. From any thread.
  bool says_what_fits(const std::string& text) {
    return ::send(here_.number(), text.data(), text.size(), MSG_NOSIGNAL) > 0;
  }
  void says_line(const std::string& text) { says(text + "\n"); }
  void hangs_up() { ::shutdown(here_.number(), SHUT_RDWR); }

  /// The descriptor that came with the first line that it was sent; empty if none did.
  Fd heard_descriptor() {
    std::array<char, 4096> block;
    iovec bytes{block.data(), block.size()};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    REQUIRE(::recvmsg(here_.number(), &message, MSG_CMSG_CLOEXEC) > 0);
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return Fd(descriptor);
  }

  /// What it was sent, line by line.
  std::vector<Json> heard() {
    std::string text;
    std::array<char, 4096> block;
    for (;;) {
      const auto got = ::recv(here_.number(), block.data(), block.size(), 0);
      if (got <= 0) break;
      text.append(block.data(), static_cast<std::size_t>(got));
    }
    std::vector<Json> lines;
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
         at = end + 1) {
      std::string line = text.substr(at, end - at);
      lines.push_back(Json::parse(line.substr(line.rfind('\xff') + 1), nullptr, false));
    }
    return lines;
  }

 private:
  Fd here_, there_;
};

}  // namespace livebtl::hypervisor
