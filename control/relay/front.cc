// SPDX-License-Identifier: BSD-3-Clause
// control/relay/front.cc -- see front.h.
#include "control/relay/front.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "control/wire/route.h"
#include "control/wire/unix_address.h"

namespace livebtl::control {
namespace {

constexpr int kFrontBacklog = 1024;
constexpr int kEventsATurn = 64;
constexpr int kTakenATurn = 256;
constexpr std::size_t kPieceBytes = 16u << 10;
constexpr std::size_t kWaitingMax = 64u << 10;
constexpr unsigned kFrontUnacknowledgedMs = 5000;
constexpr std::size_t kNetworkBytes = 8;  // of IPv6: a /64

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList look_up(std::string address, std::uint16_t port) {
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list);
  return {error == 0 ? list : nullptr, &::freeaddrinfo};
}

void set(int fd, int level, int option, int value) noexcept {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

std::uint16_t port_bound(int fd) noexcept {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  std::array<char, NI_MAXSERV> port{};
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
      ::getnameinfo(raw, bytes, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV) != 0) {
    return 0;
  }
  return static_cast<std::uint16_t>(std::atoi(port.data()));
}

IpBytes source_of(const sockaddr_storage& address) noexcept {
  IpBytes ip = ip_of(reinterpret_cast<const sockaddr*>(&address)).value_or(IpBytes{});
  if (!is_v4(ip)) std::fill(ip.begin() + kNetworkBytes, ip.end(), std::byte{0});
  return ip;
}

/// Does this error only mean to try again later?
bool just_wait(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

/// Reads once. false: the other side has ended.
bool read_some(int fd, std::string& into) {
  if (into.size() >= kWaitingMax) return true;
  std::array<char, kPieceBytes> piece;
  const ssize_t count = ::recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count > 0) into.append(piece.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && just_wait(errno));
}

/// false: the other side has ended.
bool write_some(int fd, std::string& from) {
  if (from.empty()) return true;
  const ssize_t count = ::send(fd, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return just_wait(errno);
  from.erase(0, static_cast<std::size_t>(count));
  return true;
}

}  // namespace

Result<Front> Front::open(const std::vector<std::string>& addresses, std::uint16_t port,
                          std::string inner, const FrontLimits& limits) {
  Front front(std::move(inner), limits);
  front.spares_.refill();
  front.epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!front.epoll_) return fail(Errc::kSystem, std::string("no epoll: ") + std::strerror(errno));
  std::uint16_t got = 0;
  auto listens = front.listen(addresses.front(), port, got);
  if (!listens && port != 0) listens = front.listen(addresses.front(), 0, got);
  if (!listens) return tl::unexpected(listens.error());
  const std::string behind = ":" + std::to_string(got);
  front.relay_ = "tcp://" + addresses.front() + behind;
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    const std::string longer = front.relay_ + ",tcp://" + addresses[i] + behind;
    if (valid_relay(longer) && front.listen(addresses[i], got, got)) front.relay_ = longer;
  }
  return front;
}

Status Front::listen(const std::string& address, std::uint16_t port, std::uint16_t& got) {
  const auto cannot = [&](int error) {
    return fail(Errc::kSystem, "cannot listen on " + address + ": " + std::strerror(error));
  };
  const AddressList at = look_up(address, port);
  if (!at) return cannot(EADDRNOTAVAIL);
  Fd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return cannot(errno);
  set(fd.number(), SOL_SOCKET, SO_REUSEADDR, 1);  // the port of a relay that has just ended
  if (at->ai_family == AF_INET6) set(fd.number(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = listeners_.size();
  if (::bind(fd.number(), at->ai_addr, at->ai_addrlen) != 0 ||
      ::listen(fd.number(), kFrontBacklog) != 0 ||
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, fd.number(), &event) != 0) {
    return cannot(errno);
  }
  got = port_bound(fd.number());
  listeners_.push_back(std::move(fd));
  return {};
}

void Front::turn(TimeNs now) {
  std::array<epoll_event, kEventsATurn> events{};
  const int count = ::epoll_wait(epoll_.number(), events.data(), kEventsATurn, 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
    if (number < listeners_.size()) {
      take_all(listeners_[number].number(), now);
    } else {
      serve(number);
    }
  }
  while (!unproved_.empty() && now >= wake_at()) end(unproved_.begin()->first);
}

TimeNs Front::wake_at() const noexcept {
  if (unproved_.empty()) return INT64_MAX;
  return pumps_.at(unproved_.begin()->first).since + limits_.unproved_for;
}

void Front::take_all(int listener, TimeNs now) {
  for (int i = 0; i < kTakenATurn; ++i) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    Fd outer(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &bytes,
                       SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (outer) {
      take(std::move(outer), source_of(address), now);
      continue;
    }
    if (!no_descriptor(errno)) return;
    if (!unproved_.empty()) {
      end(unproved_.begin()->first);
      continue;
    }
    if (!spares_.give_up_one()) return;
    // Accept it and close it at once, or it would wake us forever.
    outer = Fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    outer.reset();
    spares_.refill();
  }
}

void Front::take(Fd outer, const IpBytes& source, TimeNs now) {
  if (!make_room(source)) return;
  set(outer.number(), IPPROTO_TCP, TCP_NODELAY, 1);
  set(outer.number(), IPPROTO_TCP, TCP_USER_TIMEOUT, kFrontUnacknowledgedMs);
  set(outer.number(), SOL_SOCKET, SO_KEEPALIVE, 1);
  const std::uint64_t number = numbers_++;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, outer.number(), &event) != 0) return;
  Pump& pump = pumps_[number];
  pump.outer = std::move(outer);
  pump.source = source;
  pump.since = now;
  unproved_[number] = source;
}

/// false: there are too many, and all have proved themselves.
bool Front::make_room(const IpBytes& source) {
  const auto end_oldest = [this](const auto& counts) {
    auto oldest = unproved_.end();
    for (auto each = unproved_.begin(); each != unproved_.end(); ++each) {
      if (!counts(each->second)) continue;
      if (oldest == unproved_.end()) oldest = each;
      if (pumps_.at(each->first).inner) continue;  // it has said something
      oldest = each;
      break;
    }
    if (oldest != unproved_.end()) end(oldest->first);
  };
  const auto same = [&source](const IpBytes& other) { return other == source; };
  const auto of_source = std::count_if(unproved_.begin(), unproved_.end(),
                                       [&](const auto& each) { return same(each.second); });
  if (static_cast<std::size_t>(of_source) >= limits_.unproved_of_source) end_oldest(same);
  if (unproved_.size() >= limits_.unproved || pumps_.size() >= limits_.all)
    end_oldest([](const IpBytes&) { return true; });
  return pumps_.size() < limits_.all;
}

void Front::serve(std::uint64_t number) {
  const auto found = pumps_.find(number);
  if (found == pumps_.end()) return;  // it was ended to make room
  Pump& pump = found->second;
  carry(number, pump);
  if (pump.ended) return end(number);
  if (pump.proof.proved()) unproved_.erase(number);
  watch(number, pump);
}

/// What one side said before it ended still goes to the other, as far as possible at once.
void Front::carry(std::uint64_t number, Pump& pump) {
  pump.ended = !read_some(pump.outer.number(), pump.inwards);
  if (!pump.inner && (pump.inwards.empty() || !reach_inner(number, pump))) return;
  const std::size_t before = pump.outwards.size();
  if (!read_some(pump.inner.number(), pump.outwards)) pump.ended = true;
  pump.proof.hear(std::string_view(pump.outwards).substr(before));
  if (!write_some(pump.inner.number(), pump.inwards)) pump.ended = true;
  if (!write_some(pump.outer.number(), pump.outwards)) pump.ended = true;
}

bool Front::reach_inner(std::uint64_t number, Pump& pump) {
  const auto address = unix_address(inner_);
  if (!address) return false;
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  const bool reached =
      fd &&
      ::connect(fd.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 &&
      ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, fd.number(), &event) == 0;
  pump.ended = !reached;
  if (reached) pump.inner = std::move(fd);
  return reached;
}

/// Each side is read while there is room for what it says, and written to while something waits for
/// it.
void Front::watch(std::uint64_t number, const Pump& pump) {
  const auto want = [&](const Fd& fd, const std::string& said, const std::string& to_say) {
    epoll_event event{};
    event.events = (said.size() < kWaitingMax ? EPOLLIN : 0u) | (to_say.empty() ? 0u : EPOLLOUT);
    event.data.u64 = number;
    if (fd) ::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, fd.number(), &event);
  };
  want(pump.outer, pump.inwards, pump.outwards);
  want(pump.inner, pump.outwards, pump.inwards);
}

void Front::end(std::uint64_t number) {
  unproved_.erase(number);
  pumps_.erase(number);
}

}  // namespace livebtl::control
