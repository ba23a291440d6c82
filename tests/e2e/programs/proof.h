// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/proof.h -- what every MPI program of the end-to-end proof shares: its options,
// the content of a message, the ledger of what was sent and received, and the one line of proof
// that each rank prints at the end.
//
// The programs are plain MPI: all but `promises`, `regions` and `taken_back` know nothing of
// livebtl, and pass unchanged on a stock MPI. Threads: Ledger is for one thread; Proof's counters
// and error() may be used from any.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace e2e {

/// Command line: --stop FILE, --ready FILE, --rounds N, --bytes N, --messages N, --growth N, --seed
/// N.
struct Options {
  std::string stop_file;   // run until it exists (rank 0 checks, all agree)
  std::string ready_file;  // rank r makes FILE.r when the program is where the scenario wants it
  std::uint64_t rounds_max = 0;  // 0: until the stop file
  std::size_t bytes_max = 1 << 20;
  std::size_t messages = 0;  // 0: the program's default
  std::size_t growth_bytes = 64 << 20;
  std::uint64_t seed = 1;
};

/// Names one message; its content follows from that.
struct MessageName {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::uint32_t tag = 0;
  std::uint32_t unused = 0;
  std::uint64_t seq = 0;
};
inline constexpr std::size_t kNameBytes = 24;

/// Fills in the content: the name in clear (as much as fits, mixed if shorter), then words that
/// follow from name and length.
void fill(std::byte* buffer, std::size_t bytes, const MessageName& name) noexcept;
/// Is it that message, in every byte?
bool matches(const std::byte* buffer, std::size_t bytes, const MessageName& name) noexcept;
std::uint64_t mix(std::uint64_t value) noexcept;

/// A small generator with a fixed sequence per seed, the same on all ranks.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) noexcept : state_(mix(seed + 1)) {}
  std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15U); }
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }

 private:
  std::uint64_t state_;
};

class Proof {
 public:
  /// Call after MPI_Init. A wrong option ends the job with exit code 2.
  Proof(int argc, char** argv, const char* program);

  const Options& options() const noexcept { return options_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::uint64_t round() const noexcept { return rounds_; }

  /// Collective over MPI_COMM_WORLD: should there be another round?
  bool next_round();
  /// Prints the progress on stdout, at most a few times a second, however often it is called.
  void tell_round() noexcept;
  /// This rank is where the scenario wants it: makes the ready file.
  void ready() const;
  /// Without an MPI call: does the stop file exist?
  bool stopped() const;
  /// Spins without an MPI call until the stop file exists.
  void compute_until_stop() const;

  void note_sent(std::size_t bytes) noexcept;
  void note_received(std::size_t bytes) noexcept;
  /// Notes the computed result: the same for the same rounds and options, on any network.
  void note_result(std::uint64_t result) noexcept;
  enum class Fault { kLost, kRepeated, kOutOfOrder, kCorrupt, kWrong };
  /// Also printed on stderr at once: a job that lost a message may wait for it for ever.
  void error(Fault fault, const std::string& text, std::uint64_t count = 1);
  /// error(kWrong) with `text` unless `good`.
  void expect(bool good, const char* text);

  /// Collective: prints the line of proof. Returns the exit code: 0 if this rank had no error.
  int finish();
  /// The same without any MPI call, for a process that takes no part in MPI_COMM_WORLD's end.
  int print_proof();

 private:
  /// The fault's name, and its counter.
  std::pair<const char*, std::uint64_t*> named(Fault fault);

  const char* program_;
  Options options_;
  int rank_ = 0;
  int size_ = 1;
  std::uint64_t rounds_ = 0;
  std::uint64_t result_ = 0;
  std::chrono::steady_clock::time_point told_at_{};
  mutable std::mutex mutex_;
  std::uint64_t sent_ = 0, received_ = 0, sent_bytes_ = 0, received_bytes_ = 0;
  std::uint64_t lost_ = 0, repeated_ = 0, out_of_order_ = 0, corrupt_ = 0, wrong_ = 0;
  std::vector<std::string> errors_;  // the first ten
};

/// Sequence numbers per (peer, tag) in one communicator, in both directions.
class Ledger {
 public:
  /// `comm` must have the ranks of MPI_COMM_WORLD in the same order.
  Ledger(Proof& proof, MPI_Comm comm) : proof_(proof), comm_(comm) {}

  /// Fills the next message to (target, tag).
  void write(std::byte* buffer, std::size_t bytes, int target, int tag);
  /// Judges a message that came from (source, tag): content, order, repetition.
  void read(const std::byte* buffer, std::size_t bytes, int source, int tag);
  /// Counts a message that was taken without its content (truncated) as the next one.
  void skip(int source, int tag);
  /// Collective: what was sent to this rank and never arrived is lost.
  void settle();
  MPI_Comm comm() const noexcept { return comm_; }

 private:
  using Stream = std::pair<int, int>;  // peer, tag
  Proof& proof_;
  MPI_Comm comm_;
  std::map<Stream, std::uint64_t> next_out_, next_in_;
  std::vector<std::uint64_t> sent_to_, received_from_;
};

}  // namespace e2e
