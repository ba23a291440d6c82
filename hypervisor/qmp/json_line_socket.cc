// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/json_line_socket.cc -- see json_line_socket.h.
#include "hypervisor/qmp/json_line_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kSlice = 50 * kMillisecond;  // a signal may come just before poll() sleeps

std::string errno_words() { return std::strerror(errno); }

Errc code_of_errno() {
  if (errno == ENOENT || errno == ECONNREFUSED) return Errc::kNotFound;
  return errno == EACCES || errno == EPERM ? Errc::kAuth : Errc::kSystem;
}

/// A socket's address holds 108 bytes, a path may be longer: hence the directory's descriptor.
Result<sockaddr_un> address_of(const std::string& path, Fd& directory) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  directory = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory)
    return fail(code_of_errno(), path + ": " + errno_words() + "; is the path right?");
  const std::string name = "/proc/self/fd/" + std::to_string(directory.number()) + "/" + file;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.empty() || name.size() >= sizeof(address.sun_path))
    return fail(Errc::kInvalid, path + " is not the path of a socket");
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return address;
}

std::string line_of(const Json& message) {
  return message.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// `descriptor`: passed along with the bytes; -1 for none.
ssize_t send_some(int socket, std::string_view text, int descriptor) {
  iovec bytes{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

Result<JsonLineSocket> JsonLineSocket::connect(const std::string& path, const Deadline& deadline) {
  Fd directory;
  const auto address = address_of(path, directory);
  if (!address) return tl::unexpected(address.error());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return fail(Errc::kSystem, path + ": " + errno_words());
  while (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&*address),
                   sizeof(*address)) != 0) {
    if (errno != EAGAIN && errno != EINTR) {  // EAGAIN: another client is being served
      const Errc code = code_of_errno();
      return fail(code, path + ": " + errno_words() +
                            (code == Errc::kAuth ? "; run it as a user who may command this QEMU"
                                                 : "; is this QEMU running, and listening there?"));
    }
    if (deadline.stopped()) return fail(Errc::kCancelled, "interrupted");
    if (monotonic_now() >= deadline.at)
      return fail(Errc::kTimeout, path + " serves another client; end that connection");
    pause(kSlice, deadline);
  }
  return JsonLineSocket(std::move(socket), path);
}

Status JsonLineSocket::check(const Deadline& deadline) const {
  if (deadline.stopped()) return fail(Errc::kCancelled, "interrupted");
  if (monotonic_now() < deadline.at) return {};
  return fail(Errc::kTimeout, name_ + ": no answer in time; does it serve another client?");
}

Status JsonLineSocket::wait_for(short events, const Deadline& deadline) const {
  for (;;) {
    if (auto in_time = check(deadline); !in_time) return in_time;
    const TimeNs left = std::max(deadline.at - monotonic_now(), TimeNs{0});
    pollfd asked{socket_.number(), events, 0};
    const int ready =
        ::poll(&asked, 1, static_cast<int>(std::min(left, kSlice) / kMillisecond) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(Errc::kSystem, name_ + ": " + errno_words());
  }
}

Status JsonLineSocket::send(const Json& message, std::string_view before,
                            const Deadline& deadline) {
  return send_text(std::string(before) + line_of(message), -1, deadline);
}

Status JsonLineSocket::send_with(const Fd& descriptor, const Json& message,
                                 const Deadline& deadline) {
  return send_text(line_of(message), descriptor.number(), deadline);
}

Status JsonLineSocket::send_text(std::string_view text, int descriptor, const Deadline& deadline) {
  while (!text.empty()) {
    const auto sent = send_some(socket_.number(), text, descriptor);
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
      descriptor = -1;  // it went with the first byte
    } else if (errno == EAGAIN || errno == EINTR) {
      if (auto ready = wait_for(POLLOUT, deadline); !ready) return ready;
    } else {
      return fail(Errc::kDown, name_ + ": " + errno_words() + "; is this QEMU still running?");
    }
  }
  return {};
}

Status JsonLineSocket::read_more(const Deadline& deadline) {
  if (buffer_.size() > kLineBytesMax)
    return fail(Errc::kLimit,
                name_ + ": a line of more than 4 MiB; is it QEMU that listens there?");
  if (auto ready = wait_for(POLLIN, deadline); !ready) return ready;
  std::array<char, 1U << 16> block;
  const auto got = ::recv(socket_.number(), block.data(), block.size(), 0);
  if (got > 0) {
    buffer_.append(block.data(), static_cast<std::size_t>(got));
  } else if (got == 0) {
    return fail(Errc::kDown, name_ + " was closed by the other side; is this QEMU still running?");
  } else if (errno != EAGAIN && errno != EINTR) {
    return fail(Errc::kDown, name_ + ": " + errno_words() + "; is this QEMU still running?");
  }
  return {};
}

Result<Json> JsonLineSocket::receive(const Deadline& deadline) {
  // Checked even if a line is here already: a caller that reads one after another must not go on
  // for ever.
  if (const auto in_time = check(deadline); !in_time) return tl::unexpected(in_time.error());
  std::size_t end = buffer_.find('\n');
  while (end == std::string::npos) {
    const std::size_t seen = buffer_.size();
    if (const auto more = read_more(deadline); !more) return tl::unexpected(more.error());
    end = buffer_.find('\n', seen);
  }
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  // The agent's mark in front of an answer to guest-sync-delimited; no UTF-8 text contains it.
  const auto mark = line.rfind('\xff');
  const std::string_view text(line);
  Json json = parse_bounded(mark == std::string::npos ? text : text.substr(mark + 1));
  if (!json.is_object())
    return fail(Errc::kCorrupt, name_ + ": not a JSON object: " + one_line(line));
  return json;
}

}  // namespace livebtl::hypervisor
