// SPDX-License-Identifier: BSD-3-Clause
// livebtl/types.h -- the small types of the public interface: bytes, identities of processes and
// ports, addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace livebtl {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// One piece of a scattered buffer. Borrowed: the call that takes it says for how long.
struct Slice {
  const void* data = nullptr;
  std::size_t bytes = 0;
};
struct MutableSlice {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// The most slices that one operation takes.
inline constexpr std::size_t kSlicesMax = 4;

/// Random at process start; survives a checkpoint and restore. Never 0.
enum class ProcessId : std::uint64_t {};
/// Of the job: raised by each restore, so that when a process exists twice, the copy left behind is
/// fenced out. 0: none yet (docs/HOLD.md).
enum class Incarnation : std::uint32_t {};
/// Names a port within its process: a libfabric endpoint, or a Port of the C++ interface. 0: none.
using PortNumber = std::uint16_t;

using Tag = std::uint64_t;

/// Where a port is reached; users pass it to peers by any means they have. 64 opaque bytes, always
/// of this length, since Open MPI expects the same length on all ranks. Layout: docs/WIRE.md.
struct Address {
  std::array<std::byte, 64> raw{};
  friend bool operator==(const Address&, const Address&) = default;
};

}  // namespace livebtl
