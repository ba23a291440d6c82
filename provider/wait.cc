// SPDX-License-Identifier: BSD-3-Clause
// provider/wait.cc -- see wait.h.
#include "provider/wait.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "provider/cntr.h"
#include "provider/cq.h"
#include "provider/domain.h"
#include "provider/eq.h"
#include "provider/provider.h"

namespace livebtl::fi {

int WaitFd::open() noexcept {
  bell_.emplace();
  return bell_->usable() ? 0 : -errno;
}

void WaitFd::ring() noexcept {
  if (bell_) bell_->ring();
}

void WaitFd::arm() noexcept {
  if (!bell_) return;
  bell_->silence();
  armed_.exchange(true, std::memory_order_acq_rel);
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
    if (objects[i]->fclass == FI_CLASS_WAIT) continue;  // fi_wait checks before it sleeps
    Waitable* const object = waitable_of(objects[i]);
    if (!object) return -FI_EINVAL;
    object->wait_fd().arm();
    if (object->ready() || object->take_signal()) return -FI_EAGAIN;
  }
  for (int i = 0; i < count; ++i) {
    if (objects[i]->fclass == FI_CLASS_WAIT) continue;
    if (Engine* const engine = waitable_of(objects[i])->engine()) engine->leave();
  }
  return 0;
}

namespace {

fi_ops wait_set_fid_ops = {
    sizeof(fi_ops), close_object<WaitSet>, nosys, nosys, nosys, nosys, nosys,
};
fi_ops_wait wait_set_ops = {sizeof(fi_ops_wait), Method<&WaitSet::wait>::call};

class PollSet final : public Object<PollSet, fid_poll> {
 public:
  explicit PollSet(Domain& owner) noexcept;
  ~PollSet() {
    for (const fid_t member : members) waitable_of(member)->leave_poll_set();
    domain.drop();
  }

  Domain& domain;
  std::mutex lock;  // held for members, also while they are asked
  std::vector<fid_t> members;
};

int poll_members(fid_poll* set, void** contexts, int count) {
  int found = 0;
  const std::lock_guard guard(PollSet::of(set).lock);
  for (const fid_t member : PollSet::of(set).members) {
    if (!waitable_of(member)->ready()) continue;
    if (found == count) break;
    contexts[found++] = member->context;
  }
  return found;
}

int add_member(fid_poll* set, fid* object, uint64_t flags) {
  Waitable* const joining = waitable_of(object);
  if (!joining || flags != 0) return -FI_EINVAL;
  const std::lock_guard guard(PollSet::of(set).lock);
  std::vector<fid_t>& members = PollSet::of(set).members;
  if (std::find(members.begin(), members.end(), object) != members.end()) return 0;
  return guarded([&] {
    members.push_back(object);
    joining->join_poll_set();
    return 0;
  });
}

int remove_member(fid_poll* set, fid* object, uint64_t) {
  const std::lock_guard guard(PollSet::of(set).lock);
  if (std::erase(PollSet::of(set).members, object) != 0) waitable_of(object)->leave_poll_set();
  return 0;
}

fi_ops poll_fid_ops = {sizeof(fi_ops), close_object<PollSet>, nosys, nosys, nosys, nosys, nosys};
fi_ops_poll poll_ops = {sizeof(fi_ops_poll), poll_members, add_member, remove_member};

PollSet::PollSet(Domain& owner) noexcept
    : Object(FI_CLASS_POLL, poll_fid_ops, nullptr), domain(owner) {
  ops = &poll_ops;
  domain.keep();
}

}  // namespace

WaitSet::WaitSet() noexcept : Object(FI_CLASS_WAIT, wait_set_fid_ops, nullptr) {
  ops = &wait_set_ops;
}

void WaitSet::add(Waitable& member) {
  const std::lock_guard guard(lock_);
  members_.push_back(&member);
  keep();
}

void WaitSet::remove(Waitable& member) noexcept {
  {
    const std::lock_guard guard(lock_);
    std::erase(members_, &member);
  }
  drop();
}

int WaitSet::wait(int timeout_ms) noexcept {
  Engine* engine = nullptr;
  {
    const std::lock_guard guard(lock_);
    for (Waitable* member : members_) {
      if (!engine) engine = member->engine();
    }
  }
  const bool ready = wait_until(engine, timeout_ms, [this] {
    const std::lock_guard guard(lock_);
    return std::any_of(members_.begin(), members_.end(), [](Waitable* m) { return m->ready(); });
  });
  return ready ? 0 : -FI_ETIMEDOUT;
}

Waitable::~Waitable() {
  if (wait_set_) wait_set_->remove(*this);
}

int Waitable::set_wait(fi_wait_obj how, fid_wait* set) noexcept {
  wait_object_ = how;
  switch (how) {
    case FI_WAIT_FD:
      return wait_fd_.open();
    case FI_WAIT_SET:
      if (!set) return -FI_EINVAL;
      wait_set_ = &WaitSet::of(set);
      wait_set_->add(*this);
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

int open_poll_set(fid_domain* domain, fi_poll_attr* attr, fid_poll** set) {
  if (attr && attr->flags != 0) return -FI_EINVAL;
  return guarded([&] {
    *set = new PollSet(Domain::of(domain));
    return 0;
  });
}

}  // namespace livebtl::fi
