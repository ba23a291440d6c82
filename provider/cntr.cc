// SPDX-License-Identifier: BSD-3-Clause
// provider/cntr.cc -- see cntr.h.
#include "provider/cntr.h"

#include <memory>

#include "provider/provider.h"

namespace livebtl::fi {
namespace {

fi_ops counter_fid_ops = {
    sizeof(fi_ops), close_object<Counter>, nosys, get_wait<Counter>, nosys, nosys, nosys,
};
fi_ops_cntr counter_ops = {
    .size = sizeof(fi_ops_cntr),
    .read = Method<&Counter::read>::call,
    .readerr = Method<&Counter::read_errors>::call,
    .add = Method<&Counter::add>::call,
    .set = Method<&Counter::set>::call,
    .wait = Method<&Counter::wait>::call,
    .adderr = Method<&Counter::add_errors>::call,
    .seterr = Method<&Counter::set_errors>::call,
};

/// Call before loading the number. A reader that polls pays only for a load.
void note_read(std::atomic<bool>& changed) noexcept {
  if (changed.load(std::memory_order_relaxed)) changed.exchange(false, std::memory_order_acq_rel);
}

}  // namespace

Counter::Counter(Domain& domain, void* context) noexcept
    : Object(FI_CLASS_CNTR, counter_fid_ops, context), domain_(domain) {
  ops = &counter_ops;
  domain_.keep();
}

std::uint64_t Counter::read() noexcept {
  domain_.engine().progress();
  note_read(value_changed_);
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
  note_read(errors_changed_);
  const std::uint64_t errors = errors_.load(std::memory_order_acquire);
  errors_read_.store(errors, std::memory_order_relaxed);
  return errors;
}
int Counter::add(std::uint64_t more) noexcept {
  value_.fetch_add(more, std::memory_order_release);
  value_changed_.store(true, std::memory_order_release);
  wait_fd_.notify();
  return 0;
}
int Counter::set(std::uint64_t value) noexcept {
  value_.store(value, std::memory_order_release);
  value_changed_.store(true, std::memory_order_release);
  wait_fd_.notify();
  return 0;
}
int Counter::add_errors(std::uint64_t more) noexcept {
  errors_.fetch_add(more, std::memory_order_release);
  errors_changed_.store(true, std::memory_order_release);
  wait_fd_.notify();
  return 0;
}
int Counter::set_errors(std::uint64_t value) noexcept {
  errors_.store(value, std::memory_order_release);
  errors_changed_.store(true, std::memory_order_release);
  wait_fd_.notify();
  return 0;
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

// Failures count too: a thread that sleeps until something ends would otherwise sleep for ever.
bool Counter::ready() noexcept {
  domain_.engine().progress();
  return value_changed_.load(std::memory_order_acquire) ||
         errors_changed_.load(std::memory_order_acquire) ||
         value_.load(std::memory_order_acquire) != value_read_.load(std::memory_order_relaxed) ||
         errors_.load(std::memory_order_acquire) != errors_read_.load(std::memory_order_relaxed);
}

int open_counter(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** counter, void* context) {
  if (attr && (attr->flags != 0 || attr->events != FI_CNTR_EVENTS_COMP)) return -FI_EINVAL;
  return guarded([&] {
    auto made = std::make_unique<Counter>(Domain::of(domain), context);
    if (const int error = attr ? made->set_wait(attr->wait_obj, attr->wait_set) : 0) return error;
    *counter = made.release();
    return 0;
  });
}

}  // namespace livebtl::fi
