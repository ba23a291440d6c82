// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_knem.cc -- see sm_knem.h.
#include "transports/sm/sm_knem.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>

#include "transports/sm/sm_knem_abi.h"

namespace livebtl::sm {
namespace {

std::uint64_t user_address(const void* place) noexcept {
  return reinterpret_cast<std::uintptr_t>(place);
}

/// Bytes, if there are any, followed by the number.
struct Pieces {
  Pieces(Bytes bytes, const std::uint64_t& number) noexcept
      : each{{{user_address(bytes.data()), bytes.size()}, {user_address(&number), sizeof number}}},
        first(bytes.empty() ? 1 : 0) {}
  std::uint64_t address() const noexcept { return user_address(&each[first]); }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(each.size() - first); }

  std::array<knem::Piece, 2> each;
  std::size_t first;
};

}  // namespace

KnemDevice::KnemDevice(Fd device, Control control)
    : device_(std::move(device)), control_(std::move(control)) {
  knem::Info info;
  if (!call(knem::kGetInfo, &info) || info.abi != knem::kAbi) device_.reset();
}

// Opened for writing: a read-only descriptor has no regions.
KnemDevice KnemDevice::open() {
  Fd device(::open("/dev/knem", O_RDWR | O_CLOEXEC));
  if (!device) return {};
  return {std::move(device), [](int descriptor, unsigned long command, void* argument) {
            return ::ioctl(descriptor, command, argument);
          }};
}

bool KnemDevice::call(unsigned long command, void* argument) const noexcept {
  errno = ENODEV;
  return device_ && control_(device_.number(), command, argument) == 0;
}

std::uint64_t KnemDevice::create(Bytes payload, const std::uint64_t& number) const noexcept {
  const Pieces pieces(payload, number);
  knem::CreateRegion region;
  region.pieces = pieces.address();
  region.piece_count = pieces.count();
  region.protection = PROT_READ;
  return call(knem::kCreateRegion, &region) ? region.cookie : 0;
}

void KnemDevice::destroy(std::uint64_t cookie) const noexcept {
  call(knem::kDestroyRegion, &cookie);
}

bool KnemDevice::copy(std::uint64_t cookie, MutableBytes into,
                      std::uint64_t& number) const noexcept {
  const Pieces pieces(into, number);
  knem::InlineCopy copy;
  copy.pieces = pieces.address();
  copy.piece_count = pieces.count();
  copy.cookie = cookie;
  copy.status = knem::kFailed;
  if (!call(knem::kInlineCopy, &copy)) return false;
  errno = EFAULT;
  return copy.status == knem::kSuccess;
}

bool KnemPeer::knows(std::uint64_t cookie, std::uint64_t number) noexcept {
  number_ = number;
  return read(cookie, {});
}

// Until the kernel has written it, `found` differs from the number to be found there.
bool KnemPeer::read(std::uint64_t cookie, MutableBytes into) const noexcept {
  errno = cookie == 0 ? ENOMEM : ESRCH;
  if (device_ == nullptr || cookie == 0) return false;
  std::uint64_t found = ~number_;
  if (!device_->copy(cookie, into, found)) {
    if (errno == EINVAL) errno = ESRCH;  // no region has that name
    return false;
  }
  errno = ESRCH;
  return found == number_;
}

}  // namespace livebtl::sm
