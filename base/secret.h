// SPDX-License-Identifier: BSD-3-Clause
// base/secret.h -- the job secret and what is made with it: keyed BLAKE2b (libsodium), nonces,
// constant-time compare.
//
// Here the secret is just 32 bytes, wiped on destruction; control/place/job_secret.h finds it.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "livebtl/result.h"

namespace livebtl {

using Mac = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 16>;

class Secret {
 public:
  Secret() noexcept = default;  // no secret: authentication is off
  explicit Secret(const std::array<std::byte, 32>& key) noexcept;
  Secret(const Secret&) noexcept = default;
  Secret& operator=(const Secret&) noexcept = default;
  ~Secret();

  bool present() const noexcept { return present_; }
  /// Keyed BLAKE2b-256 of the message; zeros without a secret. `purpose` is a short constant that
  /// keeps the uses apart.
  Mac mac(std::string_view purpose, Bytes message) const noexcept;
  /// Requires present(). 32 bytes derived for another use (CURVE keys, a child job's secret).
  std::array<std::byte, 32> derive(std::string_view purpose) const noexcept;
  Bytes key() const noexcept { return key_; }

 private:
  std::array<std::byte, 32> key_{};
  bool present_ = false;
};

bool equal_in_constant_time(const Mac& one, const Mac& other) noexcept;
/// From the operating system. Never from saved state: a restored VM must not repeat them.
Nonce random_nonce();
std::uint64_t random_u64();

}  // namespace livebtl
