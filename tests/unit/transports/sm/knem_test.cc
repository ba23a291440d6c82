// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/knem_test.cc -- transports/sm/sm_knem.h alone: what the driver is asked,
// and which of its answers are believed.
#include <doctest/doctest.h>

#include "tests/conformance/fake_knem.h"

namespace livebtl::sm {
namespace {

using conformance::FakeKnem;

constexpr std::size_t kRegionBytes = 5000;
constexpr std::uint64_t kNumber = 0x5eed'5eed;

Blob payload_of(int value) { return Blob(kRegionBytes, static_cast<std::byte>(value)); }

knem::Piece piece_of(const void* place, std::size_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(place), bytes};
}

}  // namespace

TEST_CASE("the commands are those of the driver's interface 13") {
  CHECK(knem::kGetInfo == 0x4010'4b10);
  CHECK(knem::kCreateRegion == 0xc020'4b21);
  CHECK(knem::kDestroyRegion == 0x8008'4b22);
  CHECK(knem::kInlineCopy == 0x8030'4b33);
}

TEST_CASE("a device that is absent, or speaks another interface, does nothing and breaks nothing") {
  FakeKnem fake;
  fake.abi = knem::kAbi + 1;
  const KnemDevice other = fake.device(), none;
  const Blob there = payload_of(1);
  Blob here = payload_of(0);
  std::uint64_t number = kNumber;
  for (const KnemDevice* device : {&other, &none}) {
    CHECK(!*device);
    CHECK(device->create(there, kNumber) == 0);
    CHECK(!device->copy(1, here, number));
    CHECK(KnemRegion(*device, there, kNumber).cookie() == 0);
    CHECK(!KnemPeer(*device).read(1, here));
  }
  CHECK(!KnemPeer().knows(1, kNumber));
  CHECK(here == payload_of(0));
  CHECK(fake.mistakes == 0);
}

TEST_CASE("a region is read while it lives, and is gone with its owner") {
  FakeKnem fake;
  const KnemDevice device = fake.device();
  const std::uint64_t number = kNumber;
  const Blob there = payload_of(1);
  Blob here = payload_of(0);
  KnemPeer peer(device);
  std::uint64_t cookie = 0;
  {
    const KnemRegion shown(device, {}, number);
    KnemRegion region(device, there, number);
    REQUIRE(peer.knows(shown.cookie(), kNumber));
    CHECK(peer.read(region.cookie(), here));
    CHECK(here == there);
    cookie = region.cookie();
    region = KnemRegion(device, {}, number);
    CHECK(fake.regions() == 2);
  }
  CHECK(fake.regions() == 0);
  CHECK(!peer.read(cookie, here));
  CHECK(errno == ESRCH);
  CHECK(!peer.read(0, here));
  CHECK(errno == ENOMEM);
  CHECK(fake.mistakes == 0);
}

TEST_CASE("a region that is not what was exposed is not read: too short, too long, another's") {
  FakeKnem fake;
  const KnemDevice device = fake.device();
  const Blob there = payload_of(1);
  Blob here = payload_of(0);
  const std::uint64_t number = kNumber, others = kNumber + 1;
  KnemPeer peer(device);
  REQUIRE(peer.knows(KnemRegion(device, {}, number).cookie(), kNumber));
  const auto whole = piece_of(&number, sizeof number);
  const std::vector<std::vector<knem::Piece>> wrong = {
      {},
      {whole},
      {piece_of(there.data(), kRegionBytes)},
      {piece_of(there.data(), kRegionBytes), piece_of(&number, 4)},
      {piece_of(there.data(), kRegionBytes - 8), whole},
      {piece_of(there.data(), kRegionBytes), piece_of(&others, 8), whole}};
  for (const auto& pieces : wrong) {
    CHECK(!peer.read(fake.add(pieces), here));
    CHECK(errno == ESRCH);
  }
  CHECK(peer.read(fake.add({piece_of(there.data(), kRegionBytes), whole}), here));
  CHECK(!peer.knows(fake.add({whole}), others));
}

TEST_CASE("why a copy fails is told") {
  FakeKnem fake;
  const KnemDevice device = fake.device();
  const std::uint64_t number = kNumber;
  const Blob there = payload_of(1);
  Blob here = payload_of(0);
  KnemPeer peer(device);
  const KnemRegion region(device, there, number);
  REQUIRE(peer.knows(KnemRegion(device, {}, number).cookie(), kNumber));
  fake.copies_left = 0;
  CHECK(!peer.read(region.cookie(), here));
  CHECK(errno == EFAULT);
  fake.copies_refused = EPERM;
  CHECK(!peer.read(region.cookie(), here));
  CHECK(errno == EPERM);
}

}  // namespace livebtl::sm
