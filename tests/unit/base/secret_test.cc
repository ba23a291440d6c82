// SPDX-License-Identifier: BSD-3-Clause
// MACs depend only on key, purpose and message; a secret leaves nothing behind; nonces differ.
#include "base/secret.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <new>
#include <set>

using namespace livebtl;

namespace {
Secret secret_of(std::uint8_t fill) {
  std::array<std::byte, 32> key;
  key.fill(std::byte{fill});
  return Secret(key);
}
}  // namespace

TEST_CASE("a MAC depends on key, purpose and message") {
  const Mac mac = secret_of(1).mac("a", as_bytes("message"));
  CHECK(mac == secret_of(1).mac("a", as_bytes("message")));
  CHECK(mac != secret_of(2).mac("a", as_bytes("message")));
  CHECK(mac != secret_of(1).mac("b", as_bytes("message")));
  CHECK(mac != secret_of(1).mac("a", as_bytes("messag")));
}

TEST_CASE("the border between purpose and message counts") {
  CHECK(secret_of(1).mac("ab", as_bytes("c")) != secret_of(1).mac("a", as_bytes("bc")));
}

TEST_CASE("a derived key is neither the secret nor a MAC, and differs by purpose") {
  const Secret secret = secret_of(7);
  const auto derived = secret.derive("curve");
  CHECK(derived == secret.derive("curve"));
  CHECK(derived != secret.derive("child"));
  CHECK(derived != secret.mac("curve", {}));
  CHECK_FALSE(std::ranges::equal(derived, secret.key()));
}

TEST_CASE("without a secret MACs are zero and it says so") {
  const Secret none;
  CHECK_FALSE(none.present());
  CHECK(none.mac("a", as_bytes("message")) == Mac{});
  CHECK(secret_of(0).present());
  CHECK(secret_of(0).mac("a", as_bytes("message")) != Mac{});
}

TEST_CASE("constant-time comparison sees a difference in any byte") {
  const Mac mac = secret_of(1).mac("a", {});
  CHECK(equal_in_constant_time(mac, mac));
  for (std::size_t i = 0; i < mac.size(); ++i) {
    Mac other = mac;
    other[i] ^= std::byte{1};
    REQUIRE_FALSE(equal_in_constant_time(mac, other));
  }
}

TEST_CASE("the key is wiped on destruction") {
  alignas(Secret) std::array<std::byte, sizeof(Secret)> place{};
  auto* secret = new (place.data()) Secret(secret_of(0xA5));
  const std::byte* key = secret->key().data();
  REQUIRE(key[31] == std::byte{0xA5});
  secret->~Secret();
  CHECK(std::ranges::count(place, std::byte{0xA5}) == 0);
}

TEST_CASE("random numbers do not repeat") {
  std::set<Nonce> nonces;
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    nonces.insert(random_nonce());
    numbers.insert(random_u64());
  }
  CHECK(nonces.size() == 1000);
  CHECK(numbers.size() == 1000);
}
