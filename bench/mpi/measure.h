// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/measure.h -- what bench_mpi measures between rank 0 and rank 1. Plain MPI: the same
// program runs over livebtl and over its peers. Both ranks call the same function with the same
// arguments.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace perf {

struct Pair {
  int rank = 0;
  int other = 1;
};

/// Ping-pong of blocking calls: microseconds per half round trip; median over pieces of the time.
double half_round_trip_us(const Pair& pair, std::size_t bytes, std::uint64_t rounds);

/// Rank 0 streams a window of messages at a time, each in a buffer of its own: gigabytes per
/// second, the median over the windows.
double bandwidth_gbs(const Pair& pair, std::size_t bytes, std::uint64_t rounds);

/// Rank 0 acts on a window of rank 1, which waits in MPI: microseconds per put, or fetch-and-add,
/// with its flush; gigabytes per second of 16 puts with their flush. On rank 1 the result is
/// meaningless.
double put_us(const Pair& pair, std::size_t bytes, std::uint64_t rounds);
double fetch_add_us(const Pair& pair, std::uint64_t rounds);
double put_bandwidth_gbs(const Pair& pair, std::size_t bytes, std::uint64_t rounds);

/// Ping-pong in lock step: a word in `shared_file`, and not MPI, says that the message is there.
/// Each receive thus finds it at its first poll, so that callgrind counts the same instructions in
/// every run. Clocks stand still meanwhile, if stopped_clock.cc was loaded. What runs within the
/// functions counted_send and counted_receive is counted, block by block: block_begins() is called
/// at the beginning of every 64 rounds.
void counted(const Pair& pair, std::size_t bytes, std::uint64_t rounds,
             const std::string& shared_file);

/// Ping-pong until `stop_file` exists (rank 0 checks). Each rank then writes `log_file`.RANK: a
/// line "BEGIN LENGTH" (nanoseconds of CLOCK_MONOTONIC) for each gap of more than 5 us between two
/// deliveries, and last "messages N".
void gaps(const Pair& pair, std::size_t bytes, const std::string& stop_file,
          const std::string& log_file);

}  // namespace perf
