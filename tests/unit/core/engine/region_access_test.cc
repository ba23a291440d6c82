// SPDX-License-Identifier: BSD-3-Clause
// When the owner of a region is told of a peer's access: once, and when the memory holds the result.
#include "tests/unit/core/engine/regions.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// What the owner's port is told; once a get is said to be over, the memory is used otherwise.
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
  std::vector<std::byte> seen;  // of the last put, when it was told
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
