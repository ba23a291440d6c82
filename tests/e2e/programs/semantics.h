// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/semantics.h -- the parts of `semantics`: what MPI promises of point-to-point
// calls, call by call. Each part is collective over a communicator, and every rank goes through it
// in each round. One thread.
#pragma once

#include <iterator>
#include <vector>

#include "proof.h"

namespace e2e {

using Buffer = std::vector<std::byte>;

struct Semantics {
  Proof& proof;
  MPI_Comm comm;
  int rank = 0;
  int size = 1;

  int next() const noexcept { return (rank + 1) % size; }
  int previous() const noexcept { return (rank + size - 1) % size; }
  /// What `source` sends to the rank after it, with that tag.
  Buffer message(int source, int tag, std::size_t bytes) const;
  /// Counts and judges what came from previous().
  void judge(const Buffer& got, int tag, const char* what);
  void judge(const Buffer& got, const MPI_Status& status, int tag, const char* what);
};

using Part = void (*)(Semantics&);

// semantics_modes.cc: standard, buffered, synchronous and ready mode, blocking, non-blocking and
// persistent; to oneself; a request that is freed while it is active.
void modes(Semantics& s);
void persistent(Semantics& s);
void to_oneself(Semantics& s);
// semantics_types.cc: gaps, structures, and both at once; truncation; very large counts.
void datatypes(Semantics& s);
void truncation(Semantics& s);
// semantics_match.cc: more messages than anybody receives before a later one; wildcards beside Open
// MPI's own messages, probes, cancelling, communicators.
void unreceived(Semantics& s);
void wildcards(Semantics& s);
void probes(Semantics& s);
void cancelling(Semantics& s);
void communicators(Semantics& s);
// semantics_connect.cc: ranks that meet through a port as if they were two jobs.
void connected(Semantics& s);

}  // namespace e2e
