// SPDX-License-Identifier: BSD-3-Clause
// base/secret.cc -- keyed BLAKE2b and random bytes by libsodium. Any thread.
#include "base/secret.h"

#include <sodium.h>

#include "base/assert.h"

namespace livebtl {
namespace {

// The first byte hashed, so that a MAC and a derived key never share an input.
enum class Use : std::uint8_t { kMac = 1, kDerive = 2 };

// sodium_init() is idempotent and thread-safe; the static makes later calls a single load.
void start_sodium() noexcept {
  static const bool ready = sodium_init() >= 0;
  LIVEBTL_ASSERT(ready, "libsodium finds a source of random bytes");
}

const unsigned char* raw(const std::byte* bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes);
}

void add(crypto_generichash_blake2b_state& state, Bytes bytes) noexcept {
  crypto_generichash_blake2b_update(&state, raw(bytes.data()), bytes.size());
}

std::array<std::byte, 32> keyed_hash(Bytes key, Use use, std::string_view purpose,
                                     Bytes message) noexcept {
  start_sodium();
  crypto_generichash_blake2b_state state;
  std::array<std::byte, 32> out{};
  crypto_generichash_blake2b_init(&state, raw(key.data()), key.size(), out.size());
  add(state, bytes_of(use));
  add(state, bytes_of(std::uint64_t{purpose.size()}));
  add(state, as_bytes(purpose));
  add(state, message);
  crypto_generichash_blake2b_final(&state, reinterpret_cast<unsigned char*>(out.data()),
                                   out.size());
  sodium_memzero(&state, sizeof state);
  return out;
}

}  // namespace

Secret::Secret(const std::array<std::byte, 32>& key) noexcept : key_(key), present_(true) {}

Secret::~Secret() { sodium_memzero(key_.data(), key_.size()); }

Mac Secret::mac(std::string_view purpose, Bytes message) const noexcept {
  if (!present_) return Mac{};
  return keyed_hash(key_, Use::kMac, purpose, message);
}

std::array<std::byte, 32> Secret::derive(std::string_view purpose) const noexcept {
  LIVEBTL_ASSERT(present_, "keys are derived from a secret that is there");
  return keyed_hash(key_, Use::kDerive, purpose, {});
}

bool equal_in_constant_time(const Mac& one, const Mac& other) noexcept {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

Nonce random_nonce() {
  start_sodium();
  Nonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

std::uint64_t random_u64() {
  start_sodium();
  std::uint64_t value = 0;
  randombytes_buf(&value, sizeof value);
  return value;
}

}  // namespace livebtl
