// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/stream.cc -- a steady stream of messages among all pairs; says as it goes how
// fast it runs and what its longest gap between two deliveries was. The main job of scripts/demo.
//
// One JSON line a rank and quarter of a second: {"stream": rank, "t": unix seconds, "messages",
// "bytes", "gap_us"}.
#include <algorithm>
#include <chrono>
#include <cstdio>

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
};

constexpr int kTag = 7;

/// One message each way with every peer per lane; receives are taken in the order they arrive.
void exchange(e2e::Ledger& ledger, std::vector<Lane>& lanes, Meter& meter) {
  std::vector<MPI_Request> receives(lanes.size()), sends(lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    MPI_Irecv(lanes[i].in.data(), static_cast<int>(lanes[i].bytes), MPI_BYTE, lanes[i].peer,
              kTag + static_cast<int>(lanes[i].bytes % 3), ledger.comm(), &receives[i]);
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const int tag = kTag + static_cast<int>(lanes[i].bytes % 3);
    ledger.write(lanes[i].out.data(), lanes[i].bytes, lanes[i].peer, tag);
    MPI_Isend(lanes[i].out.data(), static_cast<int>(lanes[i].bytes), MPI_BYTE, lanes[i].peer, tag,
              ledger.comm(), &sends[i]);
  }
  for (std::size_t left = lanes.size(); left > 0; --left) {
    int index = 0;
    MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index, MPI_STATUS_IGNORE);
    meter.delivered(lanes[static_cast<std::size_t>(index)].bytes);
  }
  for (Lane& lane : lanes) {  // receives of one (source, tag) match in the order posted
    ledger.read(lane.in.data(), lane.bytes, lane.peer, kTag + static_cast<int>(lane.bytes % 3));
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "stream");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    std::vector<Lane> lanes;
    for (int step = 1; step < proof.size(); ++step) {
      for (const std::size_t bytes : {8u, 64u, 1000u, 4096u, 30000u, 200000u}) {
        const std::size_t capped = std::min(bytes, proof.options().bytes_max);
        lanes.push_back({(proof.rank() + step) % proof.size(), capped,
                         std::vector<std::byte>(capped), std::vector<std::byte>(capped)});
      }
    }
    Meter meter(proof.rank());
    while (proof.next_round()) {
      for (int i = 0; i < 20; ++i) exchange(ledger, lanes, meter);
    }
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
