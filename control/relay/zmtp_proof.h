// SPDX-License-Identifier: BSD-3-Clause
// control/relay/zmtp_proof.h -- sees in what ZeroMQ says to a connection whether it has let it in. Pure; any
// thread.
//
// ZMTP 3 (RFC 23): a greeting of 64 bytes, then frames: a byte of flags, the length in one byte or eight, the
// body. ZeroMQ sends the command READY as soon as the other side has proved itself, and not before (with
// CURVE; without a secret nothing is to be proved).
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
