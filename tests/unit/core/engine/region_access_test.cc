// SPDX-License-Identifier: BSD-3-Clause
// When the owner of a region is told of a peer's access: once, and when the memory holds the
// result.
#include "tests/unit/core/engine/regions.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// What the owner's port is told; once told that a get is over, it reuses the memory.
struct Owner {
  explicit Owner(Rig& rig, const Guarded& its_memory) : memory(its_memory) {
    rig.ports[1]->on_remote_access(
        [](void* user, const RemoteAccess& access) noexcept {
          auto& owner = *static_cast<Owner*>(user);
          owner.told.push_back(access);
          std::byte* const data = owner.memory.data();
          if (access.access == Access::kWrite) owner.seen.assign(data, data + access.bytes);
          if (access.access == Access::kRead)
            std::fill(data, data + owner.memory.size(), std::byte{0xDD});
        },
        this);
  }
  const Guarded& memory;
  std::vector<RemoteAccess> told;
  std::vector<std::byte> seen;  // memory when the last put was told
};

}  // namespace

TEST_CASE("an access is told once, when it is over") {
  for (const char* transport : {"sm", "tcp"}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{8192}, std::size_t{2} << 20}) {
      CAPTURE(transport);
      CAPTURE(bytes);
      Rig rig(2, {kind("self"), kind(transport)});
      const Guarded memory(rig, bytes);
      Owner owner(rig, memory);
      Origin origin(rig);
      const auto data = pattern(bytes, bytes);
      CHECK(origin.put({memory.key, 0}, data) == Errc::kOk);
      REQUIRE(owner.told.size() == 1);
      CHECK(owner.seen == data);
      std::vector<std::byte> into(bytes);
      CHECK(origin.get({memory.key, 0}, into) == Errc::kOk);
      rig.until([&] { return owner.told.size() == 2; });
      CHECK(into == data);
      CHECK(owner.told[1].access == Access::kRead);
      CHECK(owner.told[1].key == memory.key);
      CHECK(owner.told[1].bytes == bytes);
      CHECK(owner.told[1].source.port == rig.to(1, 0).port);
      CHECK(origin.get({memory.key, memory.size()}, into) == Errc::kBadKey);
      CHECK(owner.told.size() == 2);
    }
  }
}

TEST_CASE("an atomic is told as what it did: read, wrote, or both") {
  Rig rig(2, kinds_of({"sm"}));
  const Guarded memory(rig, 8);
  Owner owner(rig, memory);
  Origin origin(rig);
  const std::uint64_t one = 1;
  std::uint64_t found = 0;
  const auto atomic = [&](AtomicOp op, void* fetched) {
    AtomicRequest request{.to = origin.to, .remote = {memory.key, 0}, .op = op, .operand = &one};
    request.fetched = fetched;
    return origin.finish(
        [&](Operation& operation) { return rig.ports[0]->atomic(request, operation); });
  };
  CHECK(atomic(AtomicOp::kSum, nullptr) == Errc::kOk);
  CHECK(atomic(AtomicOp::kSum, &found) == Errc::kOk);
  CHECK(atomic(AtomicOp::kRead, &found) == Errc::kOk);
  REQUIRE(owner.told.size() == 3);
  CHECK(owner.told[0].access == Access::kWrite);
  CHECK(owner.told[1].access == Access::kReadWrite);
  CHECK(owner.told[2].access == Access::kRead);
}

TEST_CASE("a put of as many pieces as there may be can tell data, too") {
  for (const std::size_t piece : {std::size_t{2}, std::size_t{100'000}}) {
    CAPTURE(piece);
    const std::size_t bytes = kSlicesMax * piece;
    Rig rig(2, kinds_of({"tcp"}));
    const Guarded memory(rig, bytes);
    Owner owner(rig, memory);
    Origin origin(rig);
    const auto data = pattern(bytes, 3);
    Slice slices[kSlicesMax];
    for (std::size_t i = 0; i < kSlicesMax; ++i) slices[i] = {data.data() + i * piece, piece};
    PutRequest request{.to = origin.to, .remote = {memory.key, 0}, .slices = slices};
    request.data = 77;
    CHECK(origin.finish([&](Operation& operation) {
      return rig.ports[0]->put(request, operation);
    }) == Errc::kOk);
    REQUIRE(owner.told.size() == 1);
    CHECK(owner.told[0].data == 77);
    CHECK(owner.seen == data);
  }
}
