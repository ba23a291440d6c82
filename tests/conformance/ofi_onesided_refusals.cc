// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided_refusals.cc -- accesses that the owner of memory has not allowed,
// and what their origins learn (see ofi_onesided.h).
#include "tests/conformance/ofi_onesided.h"
#include "tests/conformance/ofi_onesided_rig.h"

namespace livebtl::conformance {
namespace {

/// The owner's provider checks key, range and right; the origin is told, if only by silence.
template <class Start>
void refused_by_the_owner(const std::string& provider, Access access, Start start) {
  Pair pair(provider);
  Memory memory(pair, 4096, access);
  const std::uint64_t cookie = start(pair, memory);
  CHECK(pair.end_of_failed(cookie).code == Errc::kDown);
  CHECK(memory.there == pattern(2, 4096));
  CHECK(memory.here == pattern(1, 4096));
}

}  // namespace

void refusals(const std::string& provider) {
  refused_by_the_owner(provider, Access::kReadWrite, [](Pair& pair, Memory& memory) {
    return pair.put({memory.local.number, 0, 8}, {~memory.remote.remote.key, 0});
  });
  refused_by_the_owner(provider, Access::kReadWrite, [](Pair& pair, Memory& memory) {
    return pair.put({memory.local.number, 0, 8}, at(memory.remote, 4092));
  });
  refused_by_the_owner(provider, Access::kReadWrite, [](Pair& pair, Memory& memory) {
    pair.b().conceal(memory.remote.number);
    return pair.get(at(memory.remote, 0), {memory.local.number, 0, 8});
  });
}

void rights(const OneSidedProvider& provider) {
  const auto put = [](Pair& pair, Memory& memory) {
    return pair.put({memory.local.number, 0, 8}, at(memory.remote, 0));
  };
  const auto get = [](Pair& pair, Memory& memory) {
    return pair.get(at(memory.remote, 0), {memory.local.number, 0, 8});
  };
  const auto add = [](Pair& pair, Memory& memory) {
    return pair.atomic(at(memory.remote, 0), {AtomicOp::kSum, Scalar::kU64, 1});
  };
  refused_by_the_owner(provider.name, Access::kRead, put);
  refused_by_the_owner(provider.name, Access::kWrite, get);
  refused_by_the_owner(provider.name, Access::kNone, put);
  refused_by_the_owner(provider.name, Access::kNone, get);
  if (!provider.atomics) return;
  refused_by_the_owner(provider.name, Access::kRead, add);
  refused_by_the_owner(provider.name, Access::kNone, add);
}

/// Where no provider would enforce rights, none are promised.
void no_rights(const std::string& provider) {
  Pair pair(provider);
  Blob memory(4096);
  for (const Access access : {Access::kNone, Access::kRead, Access::kWrite}) {
    const auto exposed = pair.b().expose(memory, access);
    REQUIRE(!exposed.has_value());
    CHECK(exposed.error().code == Errc::kUnsupported);
  }
}

}  // namespace livebtl::conformance
