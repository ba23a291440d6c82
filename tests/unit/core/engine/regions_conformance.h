// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/regions_conformance.h -- what the tests of regions on a transport share.
#pragma once

#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/regions.h"

namespace livebtl::test {

struct OnTransport {
  std::string name;
  std::vector<core::TransportKind>
      kinds;  // beside the transport itself, one to connect it by, where it needs that
  std::size_t ranks = 2;
  std::size_t storm = 300;  // accesses
  bool own_threads = true;  // each process may be moved by its own
};

/// Until the pair has met over the transport under test, and its paths are there.
inline void meet(Rig& rig, const OnTransport& on, std::uint64_t key) {
  std::vector<std::byte> little(8);
  rig.until([&] {
    REQUIRE(Origin(rig).get({key, 0}, little) == Errc::kOk);
    return used(rig, 0, last_of(rig)) == on.name;
  });
}

// regions_atomics.cc
void atomics_are_refused(const OnTransport& on);
void atomics_are_as_at_home(const OnTransport& on);
void nonsense_is_refused_at_once(const OnTransport& on);

// regions_taken_back.cc
void memory_is_taken_back(const OnTransport& on);
/// The same while another thread moves the owner, and the memory is freed at once.
void memory_is_freed(const OnTransport& on);

}  // namespace livebtl::test
