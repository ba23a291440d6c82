// SPDX-License-Identifier: BSD-3-Clause
// bench/ofi/side.h -- one of two processes between which puts and fetch-and-adds are measured: over
// livebtl's ofi transport, or over libfabric's bare provider. The origin asks, the target only
// makes progress.
//
// Threads: one; each side is a process of its own. Errors: end the program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace livebtl::bench {

inline constexpr std::size_t kBytesMax = 1u << 20;

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "ofi_onesided_bench: %s\n", why.c_str());
  std::exit(1);
}

/// A wire to the other process, for what the two must know of each other.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  void send(const Blob& message) const;
  Blob receive() const;

 private:
  int fd_;
};

class Side {
 public:
  virtual ~Side() = default;
  /// Both are called at once, each in its own process.
  virtual void meet_as_origin(const Wire& wire) = 0;
  virtual void meet_as_target(const Wire& wire) = 0;
  // Called by the origin. false: busy. Done means: visible at the target. bytes: at most kBytesMax.
  virtual bool put(std::size_t bytes) = 0;
  virtual bool fetch_add() = 0;
  /// Returns how many of our operations are done since the beginning.
  virtual std::uint64_t progress() = 0;
};

std::unique_ptr<Side> make_livebtl(const std::string& provider);
/// descriptor: its completion queue has one to sleep on, as livebtl's does.
std::unique_ptr<Side> make_bare(const std::string& provider, bool descriptor);

}  // namespace livebtl::bench
