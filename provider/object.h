// SPDX-License-Identifier: BSD-3-Clause
// provider/object.h -- what all objects that we hand to libfabric have in common: each begins with
// libfabric's own part, and counts its users; it can be closed only when it has none. Threads: any.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <atomic>

namespace livebtl::fi {

template <class Self, class Fid>
class Object : public Fid {
 public:
  using Handle = Fid;

  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  static Self& of(Fid* object) noexcept { return static_cast<Self&>(*object); }
  static Self& of(fid_t object) noexcept { return of(reinterpret_cast<Fid*>(object)); }

  void keep() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  bool used() const noexcept { return users_.load(std::memory_order_relaxed) != 0; }

 protected:
  Object(std::size_t kind, fi_ops& calls, void* context) noexcept : Fid{} {
    this->fid.fclass = kind;
    this->fid.context = context;
    this->fid.ops = &calls;
  }
  ~Object() = default;

 private:
  std::atomic<int> users_{0};
};

/// For libfabric's tables of calls: calls a method of the object that is its first argument.
template <auto Pointer>
struct Method;
template <class Self, class R, class... Args, R (Self::*Pointer)(Args...) noexcept>
struct Method<Pointer> {
  static R call(typename Self::Handle* object, Args... args) noexcept {
    return (Self::of(object).*Pointer)(args...);
  }
};

/// fi_close.
template <class Self>
int close_object(fid_t object) noexcept {
  Self* const self = &Self::of(object);
  if (self->used()) return -FI_EBUSY;
  delete self;
  return 0;
}

}  // namespace livebtl::fi
