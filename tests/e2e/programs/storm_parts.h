// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/storm_parts.h -- the parts of the point-to-point storm. Each is collective,
// leaves nothing outstanding, and draws what all ranks must agree on from `chance`, which is in the
// same state on all ranks.
#pragma once

#include "proof.h"

namespace e2e {

struct Storm {
  Proof& proof;
  Ledger& ledger;
  Chance& chance;
  int rank;
  int size;
};

using Buffer = std::vector<std::byte>;

inline int to_count(std::size_t bytes) { return static_cast<int>(bytes); }

// storm_match.cc
void any_source_any_tag(Storm& storm);   // receives posted before, in between and after
void unexpected_messages(Storm& storm);  // all sent before any receive is posted
void probes(Storm& storm);               // probe, iprobe, mprobe + mrecv, improbe + imrecv
void cancelled_receives(Storm& storm);   // a cancelled receive takes nothing
void synchronous_sends(Storm& storm);    // an issend is not complete before its receive is posted
void truncated_receives(
    Storm& storm);  // too short a buffer: MPI_ERR_TRUNCATE, the next message is whole

// storm_bulk.cc
void all_sizes(Storm& storm);      // 0 B, 1 B, ... around powers of two, up to a cap that varies
void flood(Storm& storm);          // hundreds of non-blocking messages from everyone to everyone
void derived_types(Storm& storm);  // vector, indexed, struct against plain bytes
void sendrecv_and_persistent(Storm& storm);
void largest_message(Storm& storm);  // one message of --bytes between neighbours

}  // namespace e2e
