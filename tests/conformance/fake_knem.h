// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/fake_knem.h -- a KNEM device in memory: what transports/sm asks of the driver,
// within this process.
//
// Like the driver: a cookie is reused as soon as it is free, a copy ends without an error at the
// end of the shorter side, and what does not exist is EINVAL. It does not pin: a region's bytes are
// those that are there when it is read. One thread at a time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "transports/sm/sm_knem.h"
#include "transports/sm/sm_knem_abi.h"

namespace livebtl::conformance {

class FakeKnem {
 public:
  FakeKnem() = default;
  FakeKnem(FakeKnem&&) = delete;

  /// The device borrows this object.
  sm::KnemDevice device() {
    return {Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)),
            [this](int, unsigned long command, void* argument) { return call(command, argument); }};
  }

  // Faults to play.
  std::uint32_t abi = sm::knem::kAbi;
  int creates_left = -1;    // then each create() fails with ENOMEM; -1: never
  int copies_left = -1;     // then each copy() fails half-way; -1: never
  int copies_refused = -1;  // if not -1: the errno of every copy()

  // What has happened.
  std::size_t regions() const noexcept { return regions_.size(); }
  std::size_t copies = 0;    // complete ones
  std::size_t mistakes = 0;  // calls that no careful user makes

  /// A region that no product code has made.
  std::uint64_t add(std::vector<sm::knem::Piece> pieces) {
    std::uint64_t index = 0;
    while (regions_.contains(cookie_of(index))) ++index;
    regions_[cookie_of(index)] = std::move(pieces);
    return cookie_of(index);
  }

 private:
  using Pieces = std::vector<sm::knem::Piece>;

  static std::uint64_t cookie_of(std::uint64_t index) noexcept {
    return 0x1234'0000'0000 + (index << 8);
  }
  static std::byte* at(std::uint64_t address) noexcept {
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  static int fail(int error) noexcept {
    errno = error;
    return -1;
  }
  Pieces pieces_at(std::uint64_t address, std::uint32_t count) const {
    Pieces pieces(count);
    std::memcpy(pieces.data(), at(address), count * sizeof(sm::knem::Piece));
    return pieces;
  }
  static std::vector<std::byte> bytes_in(const Pieces& pieces) {
    std::vector<std::byte> bytes;
    for (const auto& piece : pieces)
      bytes.insert(bytes.end(), at(piece.address), at(piece.address) + piece.bytes);
    return bytes;
  }

  int call(unsigned long command, void* argument) {
    switch (command) {
      case sm::knem::kGetInfo:
        *static_cast<sm::knem::Info*>(argument) = {abi, 0, 0, 0};
        return 0;
      case sm::knem::kCreateRegion:
        return create(*static_cast<sm::knem::CreateRegion*>(argument));
      case sm::knem::kDestroyRegion:
        if (regions_.erase(*static_cast<std::uint64_t*>(argument)) == 1) return 0;
        ++mistakes;
        return fail(EINVAL);
      case sm::knem::kInlineCopy:
        return copy(*static_cast<sm::knem::InlineCopy*>(argument));
      default:
        ++mistakes;
        return fail(ENOTTY);
    }
  }
  int create(sm::knem::CreateRegion& region) {
    if (region.protection != PROT_READ || region.flags != 0) ++mistakes;
    if (creates_left == 0) return fail(ENOMEM);
    creates_left -= creates_left > 0;
    region.cookie = add(pieces_at(region.pieces, region.piece_count));
    return 0;
  }
  int copy(sm::knem::InlineCopy& copy) {
    if (copy.write != 0 || copy.offset != 0 || copy.flags != 0) ++mistakes;
    const auto found = regions_.find(copy.cookie);
    if (copies_refused != -1) return fail(copies_refused);
    if (found == regions_.end()) return fail(EINVAL);
    std::vector<std::byte> from = bytes_in(found->second);
    const bool fails = copies_left == 0;
    if (fails) from.resize(from.size() / 2);
    copies_left -= copies_left > 0;
    std::size_t done = 0;
    for (const auto& piece : pieces_at(copy.pieces, copy.piece_count)) {
      const std::size_t bytes = std::min<std::size_t>(piece.bytes, from.size() - done);
      if (bytes != 0) std::memcpy(at(piece.address), from.data() + done, bytes);
      done += bytes;
    }
    copy.status = fails ? sm::knem::kFailed : sm::knem::kSuccess;
    copies += !fails;
    return 0;
  }

  std::map<std::uint64_t, Pieces> regions_;
};

}  // namespace livebtl::conformance
