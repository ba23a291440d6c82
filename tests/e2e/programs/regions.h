// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/regions.h -- parts of the program `regions`, some also of `promises` and
// `taken_back`: fetch-and-adds to counters, and puts and gets to blocks that have a model in plain
// memory. Main thread; operations end on any.
#pragma once

#include <livebtl/engine.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "proof.h"

namespace e2e {

/// Returns its value; ends the job if there is none.
template <class T>
T good(livebtl::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().text.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// An operation, and whether it is over; `done` may run on any thread.
struct Step : livebtl::Operation {
  Step();
  bool idle() const { return !begun || over.load(std::memory_order_acquire); }
  /// True once: it was begun, and is now seen to be over.
  bool take_end(Proof& proof);

  std::atomic<bool> over = false;
  livebtl::Errc code = livebtl::Errc::kOk;
  bool begun = false;
};

struct Contact {
  livebtl::Address address;
  std::uint64_t key = 0;
};

/// How this rank reaches everyone's regions.
struct Reach {
  Proof& proof;
  livebtl::Engine& engine;
  livebtl::Port& port;
  Chance chance;
  std::vector<Contact> contacts{};  // by rank, as are the peers
  std::vector<livebtl::Destination> peers{};

  int other_rank();
  livebtl::Destination at(int rank) const { return peers[static_cast<std::size_t>(rank)]; }
  std::uint64_t key(int rank) const { return contacts[static_cast<std::size_t>(rank)].key; }
  /// Starts it, retrying while the engine is busy.
  template <class Start>
  void begin(Step& step, Start start) {
    using livebtl::Accept;
    step.over = false;
    step.begun = true;
    Accept answer = start();
    for (; answer == Accept::kBusy; answer = start()) engine.progress();
    if (answer == Accept::kAccepted) return;
    proof.error(Proof::Fault::kWrong, "an operation was not accepted");
    step.begun = false;
  }
};

/// Fetch-and-adds, many at once, to the counters at the start of each region. The first counter
/// gives out numbers, each once; to the others anything is added.
class Adders {
 public:
  static constexpr std::size_t kCounters = 4;
  static constexpr std::size_t kBytes = kCounters * 8;

  explicit Adders(Reach& reach) : reach_(reach), all_(kAtOnce) {}
  /// counters: this rank's, while nobody adds.
  void begin_round(const std::byte* counters, std::uint64_t adds);
  /// Returns true if something is still under way.
  bool move();
  /// Collective, when nobody adds any more.
  void check(const std::byte* counters);
  std::uint64_t adds() const { return adds_; }
  /// How many were in flight, on average over all moves with more to begin.
  std::uint64_t in_flight() const {
    return in_flight_looks_ == 0 ? 0 : in_flight_sum_ / in_flight_looks_;
  }

 private:
  static constexpr std::size_t kAtOnce = 96;  // so that 64 stay in flight when some have ended
  static constexpr std::uint64_t kGivenMax = 1u << 24;  // per round, by a wide margin

  struct Adder {
    Step step;
    bool draws = false;
    std::uint64_t found = 0;
  };
  void begin(Adder& adder);
  void end(Adder& adder);

  Reach& reach_;
  std::vector<Adder> all_;
  std::uint64_t before_[kCounters] = {};
  std::uint64_t left_ = 0, adds_ = 0, added_ = 0;
  std::uint64_t in_flight_sum_ = 0, in_flight_looks_ = 0;
  std::uint64_t drawn_ = 0, drawn_sum_ = 0, drawn_squares_ = 0;
};

/// Eight puts and gets at once, each in a slot of this rank's block at the other ranks.
class Writers {
 public:
  static constexpr std::size_t kSlots = 8;

  /// base: where the blocks of a region begin, one for each rank.
  Writers(Reach& reach, std::size_t slot_bytes, std::size_t base);
  void begin_round(std::uint64_t writes) { left_ = writes; }
  bool move();

 private:
  struct Writer {
    Step step;
    std::size_t index = 0;
    int target = 0;
    bool gets = false;
    std::size_t begin = 0, length = 0;
    std::vector<std::byte> buffer;
    std::vector<std::vector<std::byte>> model;  // by target
  };
  void begin(Writer& writer);
  void get(Writer& writer, livebtl::Remote remote);
  void put(Writer& writer, livebtl::Remote remote);
  void end(Writer& writer);

  Reach& reach_;
  const std::size_t slot_bytes_;
  const std::size_t base_;
  std::vector<Writer> all_;
  std::uint64_t left_ = 0;
};

}  // namespace e2e
