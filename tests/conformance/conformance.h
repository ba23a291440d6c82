// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/conformance.h -- what every transport must do, as one doctest suite.
//
// A transport's own test file describes a Subject and calls run_conformance() in one TEST_CASE;
// every behaviour is a SUBCASE of it, run on fresh transports:
//
//   TEST_CASE("self conforms") { run_conformance(self_subject()); }
//
// Threads: the test's thread moves both sides in turn, except in behaviours whose name mentions
// threads.
// Time: behaviours wait for conditions; the deadline is only for bugs and hung machines.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transports/interface/transport.h"

namespace livebtl::conformance {

struct Subject {
  std::string name;
  /// A fresh transport that plays process `process` (1, 2, ...); all those made reach each other,
  /// and a second one for the same process may be made once the first is destroyed.
  std::function<Result<std::unique_ptr<core::Transport>>(std::uint64_t process)> make;
  /// Only reaches itself: process 1 plays both sides.
  bool loopback = false;
  /// Endpoints to open at once in "many endpoints".
  std::size_t endpoints_many = 32;
  /// Each process may move its transport in a thread of its own (false: it shares plain memory with
  /// its peer).
  bool own_threads = true;
  /// Exposes only to a trusted peer that has then shown that it can read; else at once.
  bool exposes_to_trusted = false;
  /// A transport may be destroyed, or end what it has open, while one connected to it exists in the
  /// same process.
  bool lost_beside = true;
};

/// Runs all behaviours as SUBCASEs of the calling TEST_CASE.
void run_conformance(const Subject& subject);

}  // namespace livebtl::conformance
