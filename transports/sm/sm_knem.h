// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_knem.h -- KNEM: a driver that copies between processes which may not trace each
// other. docs/adr/0071 has the reasons.
//
// A process pins a region of its memory and gets a cookie for it; a process of the same user that
// knows the cookie can have the kernel copy out of the region. A region that is gone, with or
// without its process, is an error to the reader and never a signal.
//
// A cookie may later name another region, and a copy ends without an error at the end of the
// shorter side. So each region ends with a number drawn by its owner, and a read is good only if it
// finds that number in its place.
//
// Threads: under the engine's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/bytes.h"
#include "base/fd.h"

namespace livebtl::sm {

class KnemDevice {
 public:
  /// ioctl(2), or a test's replacement for it.
  using Control = std::function<int(int descriptor, unsigned long command, void* argument)>;

  /// Absent: makes no region, reads nothing.
  KnemDevice() noexcept = default;
  /// Also absent if the driver speaks another binary interface.
  KnemDevice(Fd device, Control control);
  /// This machine's; absent if it has none, or if this process may not use it.
  static KnemDevice open();

  explicit operator bool() const noexcept { return static_cast<bool>(device_); }
  /// The cookie of a new region: payload, then the number. 0: not possible, errno says why.
  std::uint64_t create(Bytes payload, const std::uint64_t& number) const noexcept;
  void destroy(std::uint64_t cookie) const noexcept;
  /// false: errno says why.
  bool copy(std::uint64_t cookie, MutableBytes into, std::uint64_t& number) const noexcept;

 private:
  bool call(unsigned long command, void* argument) const noexcept;

  Fd device_;
  Control control_;
};

/// Owns a region. Borrows the device.
class KnemRegion {
 public:
  /// None: its cookie is 0.
  KnemRegion() noexcept = default;
  /// None if the kernel gives none. payload and number stay in place while it lives.
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

  /// Can the number's own region be read? From now on read() looks for it.
  bool knows(std::uint64_t cookie, std::uint64_t number) noexcept;
  /// false: it cannot be read; errno says why (ESRCH: the peer has no such region any more; ENOMEM:
  /// the peer could make none).
  bool read(std::uint64_t cookie, MutableBytes into) const noexcept;

 private:
  const KnemDevice* device_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace livebtl::sm
