// SPDX-License-Identifier: BSD-3-Clause
// provider/wait.cc -- see wait.h.
#include "provider/wait.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "provider/cntr.h"
#include "provider/cq.h"
#include "provider/eq.h"
#include "provider/provider.h"

namespace livebtl::fi {

WaitFd::~WaitFd() {
  if (fd_ >= 0) ::close(fd_);
}

int WaitFd::open() noexcept {
  fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ >= 0 ? 0 : -errno;
}

void WaitFd::ring() noexcept {
  if (fd_ < 0) return;
  const std::uint64_t one = 1;
  // It fails only when the count would overflow: then it is readable already.
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

void WaitFd::arm() noexcept {
  if (fd_ < 0) return;
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t taken = ::read(fd_, &rings, sizeof rings);
  armed_.exchange(true, std::memory_order_acq_rel);
}

void IdleSpins::give_way(Engine& engine) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kYielded{20};  // a yield to nobody takes about one
  constexpr std::int64_t kNapNs = 1'000'000;
  constexpr std::uint32_t kNaps = 16;
  if (const std::uint32_t left = naps_left_.load(std::memory_order_relaxed); left != 0) {
    naps_left_.store(left - 1, std::memory_order_relaxed);
    return engine.wait(kNapNs);
  }
  const Clock::time_point before = Clock::now();
  ::sched_yield();
  if (Clock::now() - before > kYielded) naps_left_.store(kNaps, std::memory_order_relaxed);
}

Waitable* waitable_of(fid_t object) noexcept {
  switch (object->fclass) {
    case FI_CLASS_CQ:
      return &CompletionQueue::of(object);
    case FI_CLASS_CNTR:
      return &Counter::of(object);
    case FI_CLASS_EQ:
      return &EventQueue::of(object);
    default:
      return nullptr;
  }
}

int try_wait(fid_fabric*, fid** objects, int count) {
  for (int i = 0; i < count; ++i) {
    if (objects[i]->fclass == FI_CLASS_WAIT) continue;  // fi_wait asks before it sleeps
    Waitable* const object = waitable_of(objects[i]);
    if (!object) return -FI_EINVAL;
    if (WaitFd* const fd = object->wait_fd()) fd->arm();
    if (object->ready()) return -FI_EAGAIN;
  }
  return 0;
}

namespace {

int close_wait_set(fid_t object) {
  auto& set = WaitSet::of(reinterpret_cast<fid_wait*>(object));
  if (set.used()) return -FI_EBUSY;
  delete &set;
  return 0;
}

int wait_on_set(fid_wait* set, int timeout_ms) { return WaitSet::of(set).wait(timeout_ms); }

fi_ops wait_set_fid_ops = {sizeof(fi_ops), close_wait_set, nosys, nosys, nosys, nosys, nosys};
fi_ops_wait wait_set_ops = {sizeof(fi_ops_wait), wait_on_set};

}  // namespace

WaitSet::WaitSet() noexcept : fid_wait{} {
  fid.fclass = FI_CLASS_WAIT;
  fid.ops = &wait_set_fid_ops;
  ops = &wait_set_ops;
}

void WaitSet::remove(Waitable& member) noexcept {
  members_.erase(std::remove(members_.begin(), members_.end(), &member), members_.end());
}

int WaitSet::wait(int timeout_ms) noexcept {
  Engine* engine = nullptr;
  for (Waitable* member : members_) {
    if (!engine) engine = member->engine();
  }
  const bool ready = wait_until(engine, timeout_ms, [this] {
    return std::any_of(members_.begin(), members_.end(), [](Waitable* m) { return m->ready(); });
  });
  return ready ? 0 : -FI_ETIMEDOUT;
}

int choose_wait(fi_wait_obj how, fid_wait* set, Waitable& waited, WaitFd& fd,
                WaitSet*& joined) noexcept {
  switch (how) {
    case FI_WAIT_FD:
      return fd.open();
    case FI_WAIT_SET:
      if (!set) return -FI_EINVAL;
      joined = &WaitSet::of(set);
      joined->add(waited);
      return 0;
    case FI_WAIT_NONE:
    case FI_WAIT_UNSPEC:
    case FI_WAIT_YIELD:
      return 0;
    default:
      return -FI_ENOSYS;
  }
}

int open_wait_set(fid_fabric*, fi_wait_attr* attr, fid_wait** set) {
  if (!attr || attr->flags != 0) return -FI_EINVAL;
  if (attr->wait_obj != FI_WAIT_UNSPEC && attr->wait_obj != FI_WAIT_YIELD) return -FI_ENOSYS;
  return guarded([&] {
    *set = new WaitSet;
    return 0;
  });
}

}  // namespace livebtl::fi
