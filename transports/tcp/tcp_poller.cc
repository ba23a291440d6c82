// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_poller.cc -- see tcp_poller.h.
#include "transports/tcp/tcp_poller.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "transports/tcp/tcp_socket.h"

namespace livebtl::tcp {
namespace {

constexpr int kEventsPerRun = 64;

Poller::Token make_token(std::uint32_t slot, std::uint32_t use) noexcept {
  return static_cast<Poller::Token>(std::uint64_t{use} << 32 | slot);
}

}  // namespace

Result<Poller> Poller::make() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll)
    return fail(Errc::kNoMemory, "tcp: cannot create an epoll descriptor: " + errno_text(errno));
  return Poller(std::move(epoll));
}

Result<Poller::Token> Poller::add(int fd, std::uint32_t events, PollTarget& target) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  const Token token = make_token(index, slots_[index].use + 1);
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(token);
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return fail(Errc::kNoMemory, "tcp: cannot watch a socket: " + errno_text(errno) +
                                     "; raise fs.epoll.max_user_watches if it is the limit");
  }
  free_.pop_back();
  ++slots_[index].use;
  slots_[index].target = &target;
  return token;
}

Status Poller::change(Token token, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(token);
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, fd, &event) != 0) {
    return fail(Errc::kNoMemory, "tcp: cannot watch a socket: " + errno_text(errno));
  }
  return {};
}

void Poller::remove(Token token, int fd) noexcept {
  Slot* const slot = find(token);
  if (slot == nullptr) return;
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, fd, nullptr);
  slot->target = nullptr;
  free_.push_back(static_cast<std::uint32_t>(slot - slots_.data()));
}

void Poller::run(Turn& turn) noexcept {
  std::array<epoll_event, kEventsPerRun> events;
  const int count = ::epoll_wait(epoll_.number(), events.data(), kEventsPerRun, 0);
  for (int i = 0; i < count; ++i) {
    const auto token = static_cast<Token>(events[static_cast<std::size_t>(i)].data.u64);
    if (const Slot* const slot = find(token)) slot->target->on_ready(turn);
  }
}

Poller::Slot* Poller::find(Token token) noexcept {
  const auto raw = static_cast<std::uint64_t>(token);
  const auto index = static_cast<std::uint32_t>(raw);
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  return slot.target != nullptr && slot.use == raw >> 32 ? &slot : nullptr;
}

}  // namespace livebtl::tcp
