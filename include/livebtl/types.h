// SPDX-License-Identifier: BSD-3-Clause
// livebtl/types.h -- the small words of the public interface: bytes, process and port identities,
// addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace livebtl {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// One piece of a scattered buffer. Borrowed; how long is said where it is passed.
struct Slice {
  const void* data = nullptr;
  std::size_t bytes = 0;
};
struct MutableSlice {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Most slices that one operation takes.
inline constexpr std::size_t kSlicesMax = 4;

/// Random at process start; survives a checkpoint and restore. Never 0.
enum class ProcessId : std::uint64_t {};
/// Raised after each restore; fences out a process that exists twice.
enum class Incarnation : std::uint32_t {};
/// A port is one libfabric endpoint, or one user of the C++ interface, within a process. 0 is never
/// used.
using PortNumber = std::uint16_t;

using Tag = std::uint64_t;

/// Where a port is reached: 64 opaque bytes, one length on every rank (Open MPI's limit), to be
/// handed to peers by whatever means the user has. Layout: docs/WIRE.md. Compare as bytes.
struct Address {
  std::array<std::byte, 64> raw{};
  friend bool operator==(const Address&, const Address&) = default;
};

}  // namespace livebtl
