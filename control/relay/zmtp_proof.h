// SPDX-License-Identifier: BSD-3-Clause
// control/relay/zmtp_proof.h -- tells from what ZeroMQ sends to a connection whether it was let in.
// Pure; any thread.
//
// ZMTP 3 (RFC 23): a greeting of 64 bytes, then frames: a byte of flags, the length in one or eight
// bytes, the body. ZeroMQ sends the command READY as soon as the other side has proved itself, and
// not before (with CURVE; without a secret there is nothing to prove).
#pragma once

#include <string>
#include <string_view>

namespace livebtl::control {

class ZmtpProof {
 public:
  /// The next bytes that ZeroMQ sends.
  void hear(std::string_view bytes);
  bool proved() const noexcept { return proved_; }

 private:
  static constexpr std::size_t kKeptMax = 2048;  // far more than comes before READY
  std::string kept_;
  bool proved_ = false;
};

}  // namespace livebtl::control
