// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided_modes.cc -- the ways of registering memory that providers ask for:
// those that a provider takes as it is, and all of them, when it is made to ask (see
// ofi_onesided.h).
#include <algorithm>
#include <set>

#include "provider/old_names.h"
#include "tests/conformance/ofi_demanding.h"
#include "tests/conformance/ofi_onesided.h"
#include "tests/conformance/ofi_onesided_rig.h"
#include "tests/conformance/zero_copy.h"

namespace livebtl::conformance {
namespace {

constexpr std::array kBits{FI_MR_LOCAL, FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY};
constexpr unsigned kSubsets = 1u << kBits.size();

int modes_of(unsigned subset) {
  int modes = 0;
  for (std::size_t i = 0; i < kBits.size(); ++i) modes |= (subset >> i & 1) != 0 ? kBits[i] : 0;
  return modes;
}

/// One operation of each kind.
void each_once(Pair& pair, bool atomics) {
  Memory memory(pair, 4096);
  const std::uint64_t put = pair.put({memory.local.number, 8, 100}, at(memory.remote, 3000));
  CHECK(pair.end_of(put).code == Errc::kOk);
  CHECK(std::equal(memory.there.begin() + 3000, memory.there.begin() + 3100,
                   memory.here.begin() + 8));
  const std::uint64_t get = pair.get(at(memory.remote, 64), {memory.local.number, 512, 8});
  CHECK(pair.end_of(get).code == Errc::kOk);
  CHECK(
      std::equal(memory.there.begin() + 64, memory.there.begin() + 72, memory.here.begin() + 512));
  if (!atomics) return;
  const std::uint64_t write =
      pair.atomic(at(memory.remote, 64), {AtomicOp::kWrite, Scalar::kU64, 7});
  CHECK(pair.end_of(write).code == Errc::kOk);
  const std::uint64_t swap =
      pair.atomic(at(memory.remote, 64), {AtomicOp::kCompareSwap, Scalar::kU64, 9, 7});
  CHECK(pair.end_of(swap).fetched == 7);
  std::uint64_t nine = 0;
  std::memcpy(&nine, memory.there.data() + 64, sizeof nine);
  CHECK(nine == 9);
}

/// A payload of the maximum size is exposed, and read from where it lies.
void lent_once(Pair& pair) {
  End& from = *pair.link().a;
  End& to = *pair.link().b;
  Exposures exposures(from);
  exposures.expose_at_once(1, pair.rig().zero_copy_max());
  REQUIRE(pair.rig().until([&] { return to.frames == 1 && from.sent == exposures.posted; }));
  check_received(to, {{0, 24, pair.rig().zero_copy_max()}});
  CHECK(to.endpoint().stats().frames_read_remotely == 1);
}

/// in_steps: no registered memory for payloads to land in. Returns the modes that it was seen with.
int as_demanded(const OneSidedProvider& provider, int modes, bool in_steps) {
  CAPTURE(modes);
  CAPTURE(in_steps);
  Demanding demanding(modes);
  int used = 0;
  if (in_steps) demanding.refuse_landings();
  {
    Pair pair(provider.name, {.library = &demanding.library()});
    used = pair.transport_a().domain().info().domain_attr->mr_mode;
    const std::uint64_t before = demanding.reads();
    lent_once(pair);
    const bool local = (modes & FI_MR_LOCAL) != 0;
    CHECK((demanding.reads() - before > 1) == (local && in_steps));
    each_once(pair, provider.atomics);
    CHECK((demanding.locals() > 0) == local);
  }
  CHECK(demanding.regions() == 0);
  return used;
}

}  // namespace

void memory_modes(const OneSidedProvider& provider) {
  std::set<int> taken;
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    const int modes = modes_of(subset);
    CAPTURE(modes);
    if (!ofi::choose_provider(**ofi::library(), provider.name, ofi::kBufferBytes, {true, modes}))
      continue;  // it insists on other modes
    Pair pair(provider.name, {.memory_modes = modes});
    const int used = pair.transport_a().domain().info().domain_attr->mr_mode;
    CHECK((used & ~modes) == 0);
    taken.insert(used);
    each_once(pair, provider.atomics);
  }
  REQUIRE(!taken.empty());
  MESSAGE(provider.name << " was seen with " << taken.size() << " sets of modes");
}

void demanded_memory_modes(const OneSidedProvider& provider) {
  std::set<int> seen;
  for (unsigned subset = 0; subset < kSubsets; ++subset) {
    for (const bool in_steps : {false, true})
      seen.insert(as_demanded(provider, modes_of(subset), in_steps));
  }
  CHECK(seen.size() == 16);
}

// The modes from before there were bits, and those that we have no use for.
void other_memory_modes(const OneSidedProvider& provider) {
  for (const int modes : {fi::kModeBasic, fi::kModeScalable, FI_MR_RAW, FI_MR_MMU_NOTIFY,
                          FI_MR_ENDPOINT, FI_MR_LOCAL | FI_MR_RAW}) {
    CAPTURE(modes);
    const Demanding demanding(modes);
    const auto chosen =
        ofi::choose_provider(demanding.library(), provider.name, ofi::kBufferBytes, {true});
    REQUIRE(!chosen.has_value());
    CHECK(chosen.error().code == Errc::kNotFound);
  }
}

}  // namespace livebtl::conformance
