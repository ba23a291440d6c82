// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/onesided.cc -- rank 0 acts on a window of rank 1, which waits in a barrier. Windows are
// made of existing memory (MPI_Win_create): ranks on one machine would act on memory of
// MPI_Win_allocate by loads and stores, whatever lies beneath MPI.
#include <mpi.h>

#include "measure.h"
#include "timing.h"

namespace perf {
namespace {

constexpr std::size_t kPutsAtOnce = 16;

/// Made collectively, and open to access by all.
class Window {
 public:
  explicit Window(std::size_t bytes) : memory_(bytes + sizeof(std::int64_t)) {
    MPI_Win_create(memory_.data(), static_cast<MPI_Aint>(memory_.size()), 1, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win_);
    MPI_Win_lock_all(0, win_);
  }
  ~Window() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  MPI_Win get() const { return win_; }

 private:
  std::vector<char> memory_;
  MPI_Win win_ = MPI_WIN_NULL;
};

}  // namespace

double put_us(const Pair& pair, std::size_t bytes, std::uint64_t rounds) {
  const Window window(bytes);
  if (pair.rank != 0) return 0;
  const std::vector<char> out(bytes, 'x');
  return median_ns(rounds,
                   [&] {
                     MPI_Put(out.data(), static_cast<int>(bytes), MPI_CHAR, 1, 0,
                             static_cast<int>(bytes), MPI_CHAR, window.get());
                     MPI_Win_flush(1, window.get());
                   }) /
         1e3;
}

double fetch_add_us(const Pair& pair, std::uint64_t rounds) {
  const Window window(sizeof(std::int64_t));
  if (pair.rank != 0) return 0;
  const std::int64_t one = 1;
  std::int64_t before = 0;
  return median_ns(rounds,
                   [&] {
                     MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 1, 0, MPI_SUM, window.get());
                     MPI_Win_flush(1, window.get());
                   }) /
         1e3;
}

double put_bandwidth_gbs(const Pair& pair, std::size_t bytes, std::uint64_t rounds) {
  const Window window(bytes * kPutsAtOnce);
  if (pair.rank != 0) return 0;
  const std::vector<char> out(bytes * kPutsAtOnce, 'x');
  const double ns = median_ns(rounds, [&] {
    for (std::size_t i = 0; i < kPutsAtOnce; ++i) {
      MPI_Put(out.data() + i * bytes, static_cast<int>(bytes), MPI_CHAR, 1,
              static_cast<MPI_Aint>(i * bytes), static_cast<int>(bytes), MPI_CHAR, window.get());
    }
    MPI_Win_flush(1, window.get());
  });
  return static_cast<double>(bytes * kPutsAtOnce) / ns;
}

}  // namespace perf
