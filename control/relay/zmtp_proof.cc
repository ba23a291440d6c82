// SPDX-License-Identifier: BSD-3-Clause
// control/relay/zmtp_proof.cc -- see zmtp_proof.h.
#include "control/relay/zmtp_proof.h"

#include <algorithm>
#include <cstdint>

namespace livebtl::control {
namespace {

constexpr std::size_t kGreetingBytes = 64;
constexpr char kLong = 2;
constexpr char kCommand = 4;
constexpr std::string_view kReady("\x05READY", 6);

/// Takes a frame off the front; empty: it is incomplete. Returns the flags byte and the body.
std::string take_frame(std::string_view& bytes) {
  if (bytes.size() < 2) return {};
  const char flags = bytes[0];
  const std::size_t digits = (flags & kLong) != 0 ? 8 : 1;
  if (bytes.size() < 1 + digits) return {};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < digits; ++i)
    length = length << 8 | static_cast<unsigned char>(bytes[1 + i]);
  const std::string_view rest = bytes.substr(1 + digits);
  if (length > rest.size()) return {};
  bytes = rest.substr(length);
  return flags + std::string(rest.substr(0, length));
}

}  // namespace

void ZmtpProof::hear(std::string_view bytes) {
  if (proved_) return;
  kept_ += bytes.substr(0, std::min(bytes.size(), kKeptMax - kept_.size()));
  if (kept_.size() <= kGreetingBytes) return;
  std::string_view rest = std::string_view(kept_).substr(kGreetingBytes);
  for (std::string frame = take_frame(rest); !frame.empty(); frame = take_frame(rest)) {
    if ((frame[0] & kCommand) == 0 || std::string_view(frame).substr(1, kReady.size()) != kReady)
      continue;
    proved_ = true;
    kept_.clear();
    kept_.shrink_to_fit();
    return;
  }
}

}  // namespace livebtl::control
