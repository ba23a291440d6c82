// SPDX-License-Identifier: BSD-3-Clause
// provider/cntr.cc -- see cntr.h.
#include "provider/cntr.h"

#include <memory>

#include "provider/provider.h"

namespace livebtl::fi {
namespace {

int close_counter(fid_t object) {
  Counter* const counter = &Counter::of(object);
  if (counter->used()) return -FI_EBUSY;
  counter->domain().drop();
  delete counter;
  return 0;
}

int control_counter(fid_t object, int command, void* argument) {
  WaitFd* const fd = Counter::of(object).wait_fd();
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  if (fd->number() < 0) return -FI_ENODATA;
  *static_cast<int*>(argument) = fd->number();
  return 0;
}

uint64_t read_counter(fid_cntr* counter) { return Counter::of(counter).read(); }
uint64_t read_counter_errors(fid_cntr* counter) { return Counter::of(counter).read_errors(); }
int add_to_counter(fid_cntr* counter, uint64_t more) {
  Counter::of(counter).add(more);
  return 0;
}
int set_counter(fid_cntr* counter, uint64_t value) {
  Counter::of(counter).set(value);
  return 0;
}
int add_counter_errors(fid_cntr* counter, uint64_t more) {
  Counter::of(counter).add_errors(more);
  return 0;
}
int set_counter_errors(fid_cntr* counter, uint64_t value) {
  Counter::of(counter).set_errors(value);
  return 0;
}
int wait_counter(fid_cntr* counter, uint64_t threshold, int timeout_ms) {
  return Counter::of(counter).wait(threshold, timeout_ms);
}

fi_ops counter_fid_ops = {
    sizeof(fi_ops), close_counter, nosys, control_counter, nosys, nosys, nosys,
};
fi_ops_cntr counter_ops = {
    .size = sizeof(fi_ops_cntr),
    .read = read_counter,
    .readerr = read_counter_errors,
    .add = add_to_counter,
    .set = set_counter,
    .wait = wait_counter,
    .adderr = add_counter_errors,
    .seterr = set_counter_errors,
};

}  // namespace

Counter::Counter(Domain& domain, void* context) noexcept : fid_cntr{}, domain_(domain) {
  fid.fclass = FI_CLASS_CNTR;
  fid.context = context;
  fid.ops = &counter_fid_ops;
  ops = &counter_ops;
}

Counter::~Counter() {
  if (wait_set_) wait_set_->remove(*this);
}

std::uint64_t Counter::read() noexcept {
  domain_.engine().progress();
  const std::uint64_t value = value_.load(std::memory_order_acquire);
  if (value_read_.exchange(value, std::memory_order_relaxed) == value) {
    spins_.found_nothing(domain_.engine());
  } else {
    spins_.found();
  }
  return value;
}
std::uint64_t Counter::read_errors() noexcept {
  domain_.engine().progress();
  return errors_.load(std::memory_order_acquire);
}
void Counter::add(std::uint64_t more) noexcept {
  value_.fetch_add(more, std::memory_order_release);
  wait_fd_.notify();
}
void Counter::set(std::uint64_t value) noexcept {
  value_.store(value, std::memory_order_release);
  wait_fd_.notify();
}
void Counter::add_errors(std::uint64_t more) noexcept {
  errors_.fetch_add(more, std::memory_order_release);
  wait_fd_.notify();
}
void Counter::set_errors(std::uint64_t value) noexcept {
  errors_.store(value, std::memory_order_release);
  wait_fd_.notify();
}

int Counter::wait(std::uint64_t threshold, int timeout_ms) noexcept {
  const std::uint64_t errors_before = errors_.load(std::memory_order_acquire);
  const bool reached = wait_until(&domain_.engine(), timeout_ms, [&] {
    domain_.engine().progress();
    return value_.load(std::memory_order_acquire) >= threshold ||
           errors_.load(std::memory_order_acquire) != errors_before;
  });
  if (!reached) return -FI_ETIMEDOUT;
  return value_.load(std::memory_order_acquire) >= threshold ? 0 : -FI_EAVAIL;
}

bool Counter::ready() noexcept {
  domain_.engine().progress();
  return value_.load(std::memory_order_acquire) != value_read_.load(std::memory_order_relaxed);
}

int Counter::set_wait(const fi_cntr_attr& attr) {
  return choose_wait(attr.wait_obj, attr.wait_set, *this, wait_fd_, wait_set_);
}

int open_counter(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** counter, void* context) {
  if (attr && (attr->flags != 0 || attr->events != FI_CNTR_EVENTS_COMP)) return -FI_EINVAL;
  return guarded([&] {
    Domain& owner = Domain::of(domain);
    auto made = std::make_unique<Counter>(owner, context);
    if (const int error = attr ? made->set_wait(*attr) : 0) return error;
    owner.keep();
    *counter = made.release();
    return 0;
  });
}

}  // namespace livebtl::fi
