// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_knem.h -- KNEM: a driver that copies between processes which may not trace each other.
// docs/adr/0071 has the reasons.
//
// A process pins a region of its memory and gets a cookie for it; a process of the same user that
// knows the cookie has the kernel copy out of the region. A region that is gone, with its process
// or without, is an error to the reader and never a signal.
//
// A cookie names whatever region it is used for next, and a copy ends without an error at the end
// of the shorter side. So each region ends with a number that its owner has drawn, and a read is
// good only if it finds that number where it must be.
//
// Threads: none but the engine's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/bytes.h"
#include "base/fd.h"

namespace livebtl::sm {

class KnemDevice {
 public:
  /// ioctl(2), or what a test has in its stead.
  using Control = std::function<int(int descriptor, unsigned long command, void* argument)>;

  /// Absent: there is no region, and nothing can be read.
  KnemDevice() noexcept = default;
  /// Absent too if the driver speaks another binary interface.
  KnemDevice(Fd device, Control control);
  /// That of this machine; absent if it has none, or this process may not use it.
  static KnemDevice open();

  explicit operator bool() const noexcept { return static_cast<bool>(device_); }
  /// The cookie of a region: payload, then the number. 0: it cannot be had, errno says why.
  std::uint64_t create(Bytes payload, const std::uint64_t& number) const noexcept;
  void destroy(std::uint64_t cookie) const noexcept;
  /// false: errno says why.
  bool copy(std::uint64_t cookie, MutableBytes into, std::uint64_t& number) const noexcept;

 private:
  bool call(unsigned long command, void* argument) const noexcept;

  Fd device_;
  Control control_;
};

/// A region, for as long as it is needed. Borrows the device.
class KnemRegion {
 public:
  /// None: its cookie is 0.
  KnemRegion() noexcept = default;
  /// None if it cannot be had. payload and number stay where they are while it lives.
  KnemRegion(const KnemDevice& device, Bytes payload, const std::uint64_t& number) noexcept
      : device_(&device), cookie_(device.create(payload, number)) {}
  KnemRegion(KnemRegion&& other) noexcept
      : device_(other.device_), cookie_(std::exchange(other.cookie_, 0)) {}
  KnemRegion& operator=(KnemRegion&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = other.device_;
      cookie_ = std::exchange(other.cookie_, 0);
    }
    return *this;
  }
  ~KnemRegion() { reset(); }

  std::uint64_t cookie() const noexcept { return cookie_; }
  void reset() noexcept {
    if (cookie_ != 0) device_->destroy(std::exchange(cookie_, 0));
  }

 private:
  const KnemDevice* device_ = nullptr;
  std::uint64_t cookie_ = 0;
};

/// The regions of the process at the other end.
class KnemPeer {
 public:
  /// Nobody: nothing can be read.
  KnemPeer() noexcept = default;
  explicit KnemPeer(const KnemDevice& device) noexcept : device_(&device) {}

  /// Is the number alone in that region? From then on read() looks for it.
  bool knows(std::uint64_t cookie, std::uint64_t number) noexcept;
  /// false: it cannot be read; errno says why (ESRCH: there is no such region of that peer any more;
  /// ENOMEM: the peer could make none).
  bool read(std::uint64_t cookie, MutableBytes into) const noexcept;

 private:
  const KnemDevice* device_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace livebtl::sm
