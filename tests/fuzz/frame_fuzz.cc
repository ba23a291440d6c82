// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/frame_fuzz.cc -- frame headers from outside: each is either refused or exactly what
// docs/WIRE.md allows.
//
// Input: one header. What decode_head() accepts is checked against rules written down here a second
// time, and what it refuses must break at least one of them.
#include <optional>

#include "core/lane/frame.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::core;

std::optional<std::size_t> body_bytes(unsigned kind) {
  switch (kind) {
    case 1:
    case 6:
    case 4:
    case 5:
    case 9:
    case 11:
    case 64:
    case 65:
    case 66:
    case 67:
    case 68:
    case 70:
    case 71:
    case 72:
    case 73:
      return 16;
    case 32:
      return 24;
    case 2:
    case 7:
    case 8:
    case 10:
      return 32;
    case 3:
      return 40;
    case 12:
    case 69:
      return 0;
    default:
      return std::nullopt;
  }
}

unsigned flags_of(unsigned kind) {
  constexpr unsigned kAckWanted = 8;
  constexpr unsigned kAhead = 128;
  switch (kind) {
    case 1:
      return kAckWanted | 1 | 2 | 4;
    case 2:
      return kAckWanted | 1 | 2 | 4 | 16 | 32 | kAhead;
    case 3:
    case 32:
      return kAckWanted | kAhead;
    case 4:
      return kAckWanted | 64 | kAhead;
    case 5:
      return kAckWanted | 4;
    case 7:
      return kAckWanted | 1;
    case 69:
      return 0;
    default:
      return kAckWanted;
  }
}

template <class T>
T at(Bytes header, std::size_t offset) {
  T value;
  std::memcpy(&value, header.data() + offset, sizeof value);
  return value;
}

bool body_allowed(unsigned kind, unsigned flags, Bytes header) {
  if (kind == 2) {
    const int purposes = ((flags & 2) != 0) + ((flags & 16) != 0) + ((flags & 32) != 0);
    const bool message = (flags & (16 | 32)) == 0;
    return purposes <= 1 && (message || (flags & 128) == 0);
  }
  if (kind == 3) return at<std::uint32_t>(header, 60) == 0;
  if (kind == 4 && (flags & (64 | 128)) == (64 | 128)) return false;
  if (kind == 4 || kind == 5 || kind == 9 || kind == 11) return at<std::uint32_t>(header, 36) == 0;
  if (kind == 10) return at<std::uint8_t>(header, 54) <= 1 && at<std::uint8_t>(header, 55) == 0;
  if (kind == 32) return at<std::uint32_t>(header, 44) == 0;
  return true;
}

bool allowed(Bytes header) {
  if (header.size() < 24) return false;
  const unsigned kind = at<std::uint8_t>(header, 0);
  const unsigned flags = at<std::uint8_t>(header, 1);
  const auto body = body_bytes(kind);
  if (!body || header.size() != 24 + *body || (flags & ~flags_of(kind)) != 0) return false;
  if (at<std::uint16_t>(header, 2) != 0) return false;
  if ((kind < 32) != (at<std::uint64_t>(header, 8) != 0)) return false;
  return body_allowed(kind, flags, header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes header(reinterpret_cast<const std::byte*>(data), size);
  const auto head = decode_head(header);
  fuzz::must_hold(head.has_value() == allowed(header), "taken exactly when allowed");
  if (head) {
    fuzz::must_hold(std::memcmp(&*head, data, sizeof *head) == 0, "the head is what the bytes say");
    fuzz::must_hold(!to_text(*head).empty(), "every head has a text");
  }
  fuzz::Reached::note(head.has_value());
  return 0;
}
