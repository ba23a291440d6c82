// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/stream.cc -- a steady stream of messages among all pairs; reports how fast it
// runs and its longest gap between two deliveries. Each round ends with a computation on what was
// received and an all-to-all of its results, so that the final result depends on every byte. The
// main job of scripts/demo and of the tests in guests.
// --messages N: sends the largest messages in one of N exchanges (1).
// One line of JSON per rank and quarter of a second: {"stream": rank, "t": unix seconds,
// "messages", "bytes", "gap_us"}.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "proof.h"

namespace {

using Clock = std::chrono::steady_clock;

/// What happened since the last line.
class Meter {
 public:
  explicit Meter(int rank) : rank_(rank), line_at_(Clock::now()), last_(line_at_) {}

  void delivered(std::size_t bytes) {
    const auto now = Clock::now();
    gap_ = std::max(gap_, now - last_);
    last_ = now;
    ++messages_;
    bytes_ += bytes;
    if (now - line_at_ >= std::chrono::milliseconds(250)) print(now);
  }

 private:
  void print(Clock::time_point now) {
    const std::chrono::duration<double> since_epoch =
        std::chrono::system_clock::now().time_since_epoch();
    const std::chrono::duration<double> span = now - line_at_;
    const std::chrono::duration<double, std::micro> gap = gap_;
    std::printf(
        "{\"stream\": %d, \"t\": %.3f, \"seconds\": %.3f, \"messages\": %llu, \"bytes\": %llu, "
        "\"gap_us\": %.0f}\n",
        rank_, since_epoch.count(), span.count(), static_cast<unsigned long long>(messages_),
        static_cast<unsigned long long>(bytes_), gap.count());
    std::fflush(stdout);
    line_at_ = now;
    messages_ = bytes_ = 0;
    gap_ = {};
  }

  int rank_;
  Clock::time_point line_at_, last_;
  Clock::duration gap_{};
  std::uint64_t messages_ = 0, bytes_ = 0;
};

struct Lane {
  int peer = 0;
  std::size_t bytes = 0;
  std::vector<std::byte> in, out;
  int tag() const { return 7 + static_cast<int>(bytes % 3); }
};

constexpr std::size_t kLargest = 200'000;

/// Computes from everything that any rank has received so far.
class Computation {
 public:
  explicit Computation(int ranks) : out_(static_cast<std::size_t>(ranks)), in_(out_.size()) {}

  void compute(const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes) {
      std::uint64_t word = 0;
      for (std::size_t at = 0; at + sizeof word <= lane.bytes; at += sizeof word) {
        std::memcpy(&word, lane.in.data() + at, sizeof word);
        result_ = e2e::mix(result_ ^ word);
      }
    }
  }
  void exchange(MPI_Comm comm) {
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = e2e::mix(result_ + i);
    MPI_Alltoall(out_.data(), 1, MPI_UINT64_T, in_.data(), 1, MPI_UINT64_T, comm);
    for (const std::uint64_t word : in_) result_ = e2e::mix(result_ ^ word);
  }
  std::uint64_t result() const { return result_; }

 private:
  std::uint64_t result_ = 0;
  std::vector<std::uint64_t> out_, in_;
};

/// One message each way with every peer per lane; receives are taken in the order they arrive.
void exchange(e2e::Ledger& ledger, std::vector<Lane>& all, bool with_largest, Meter& meter) {
  std::vector<Lane*> lanes;
  for (Lane& lane : all)
    if (with_largest || lane.bytes < kLargest) lanes.push_back(&lane);
  std::vector<MPI_Request> receives(lanes.size()), sends(lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    MPI_Irecv(lanes[i]->in.data(), static_cast<int>(lanes[i]->bytes), MPI_BYTE, lanes[i]->peer,
              lanes[i]->tag(), ledger.comm(), &receives[i]);
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Lane& lane = *lanes[i];
    ledger.write(lane.out.data(), lane.bytes, lane.peer, lane.tag());
    MPI_Isend(lane.out.data(), static_cast<int>(lane.bytes), MPI_BYTE, lane.peer, lane.tag(),
              ledger.comm(), &sends[i]);
  }
  for (std::size_t left = lanes.size(); left > 0; --left) {
    int index = 0;
    MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index, MPI_STATUS_IGNORE);
    meter.delivered(lanes[static_cast<std::size_t>(index)]->bytes);
  }
  for (Lane* lane : lanes)  // receives of one (source, tag) match in the order posted
    ledger.read(lane->in.data(), lane->bytes, lane->peer, lane->tag());
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

std::vector<Lane> make_lanes(const e2e::Proof& proof) {
  std::vector<Lane> lanes;
  for (int step = 1; step < proof.size(); ++step) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{1000},
                                    std::size_t{4096}, std::size_t{30'000}, kLargest}) {
      const std::size_t capped = std::min(bytes, proof.options().bytes_max);
      lanes.push_back({(proof.rank() + step) % proof.size(), capped, std::vector<std::byte>(capped),
                       std::vector<std::byte>(capped)});
    }
  }
  return lanes;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "stream");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    std::vector<Lane> lanes = make_lanes(proof);
    const std::size_t largest_each = std::max<std::size_t>(1, proof.options().messages);
    Computation computation(proof.size());
    Meter meter(proof.rank());
    while (proof.next_round()) {
      for (std::size_t i = 0; i < 20; ++i) exchange(ledger, lanes, i % largest_each == 0, meter);
      computation.compute(lanes);
      computation.exchange(ledger.comm());
    }
    proof.note_result(computation.result());
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
