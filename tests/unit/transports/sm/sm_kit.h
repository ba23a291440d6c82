// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_kit.h -- sm transports of one job in its own directory.
#pragma once

#include <doctest/doctest.h>

#include "tests/conformance/job_directory.h"
#include "tests/conformance/rig.h"
#include "transports/sm/sm_segment.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::sm {

using conformance::End;
using conformance::JobDirectory;
using conformance::kDeadlineNs;
using conformance::Side;

inline constexpr std::size_t kRingBytes = 64u << 10;

inline std::unique_ptr<Side> make_side(const JobDirectory& directory, std::uint64_t process,
                                       std::size_t ring_bytes = kRingBytes) {
  core::NodeFacts facts;
  facts.process = ProcessId{process};
  facts.node = 5;
  facts.job_directory = directory.path();
  auto made = SmTransport::make(facts, ring_bytes);
  REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : made.error().text));
  return std::make_unique<Side>(std::move(*made));
}

template <class Condition>
bool turn_until(Side& side, Condition condition) {
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (!condition()) {
    if (monotonic_now() > deadline) return false;
    side.turn();
  }
  return true;
}

inline Blob contact_of(std::uint64_t process) {
  ByteWriter writer;
  writer.put(sm::kSegmentVersion);
  writer.put(std::uint64_t{5});
  writer.put(process);
  return writer.take();
}

}  // namespace livebtl::sm
