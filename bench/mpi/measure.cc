// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/measure.cc -- see measure.h.
#include "measure.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "timing.h"

namespace perf {
namespace {

constexpr int kTag = 1;
constexpr int kStopTag = 2;
constexpr std::size_t kWindowBytes = 16 << 20;
constexpr std::size_t kWindowMax = 32;
constexpr std::int64_t kGapNs = 5000;
constexpr std::uint64_t kBlockRounds = 64;  // bench/side_by_side/instructions.py has the same

using Buffer = std::vector<char>;

void send(const Buffer& buffer, int to, int tag = kTag) {
  MPI_Send(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
}
int receive(Buffer& buffer, int from) {
  MPI_Status status;
  MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, from, MPI_ANY_TAG,
           MPI_COMM_WORLD, &status);
  return status.MPI_TAG;
}

void ping_pong(const Pair& pair, const Buffer& out, Buffer& in) {
  if (pair.rank == 0) send(out, pair.other);
  receive(in, pair.other);
  if (pair.rank != 0) send(out, pair.other);
}

/// Sends a window of messages one way, and a short one back when all have arrived.
void stream(const Pair& pair, std::vector<Buffer>& buffers) {
  std::vector<MPI_Request> requests(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int bytes = static_cast<int>(buffers[i].size());
    if (pair.rank == 0)
      MPI_Isend(buffers[i].data(), bytes, MPI_CHAR, pair.other, kTag, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(buffers[i].data(), bytes, MPI_CHAR, pair.other, kTag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  Buffer taken(1);
  if (pair.rank == 0)
    receive(taken, pair.other);
  else
    send(taken, pair.other);
}

/// Callgrind looks for these names.
[[gnu::noinline]] void counted_send(const Buffer& buffer, int to) { send(buffer, to); }
[[gnu::noinline]] void counted_receive(Buffer& buffer, int from) { receive(buffer, from); }
/// Here callgrind starts a new file.
[[gnu::noinline]] void block_begins() { asm volatile(""); }

/// Stops or restarts this process's clocks, if stopped_clock.cc was loaded before it.
void stop_clock(bool stop) {
  using Function = void (*)(bool);
  if (const auto call = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, "bench_stop_clock"));
      call != nullptr)
    call(stop);
}

/// A word that both ranks have mapped.
std::atomic<std::uint32_t>& shared_word(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* place = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, 4096) == 0)
    place = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (place == MAP_FAILED) {
    std::perror(path.c_str());
    std::exit(1);
  }
  ::close(fd);
  return *static_cast<std::atomic<std::uint32_t>*>(place);
}

void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load() != value) ::sched_yield();
}

/// One rank's gaps between deliveries.
class GapLog {
 public:
  void delivered(std::int64_t now) {
    if (now - last_ > kGapNs) gaps_.emplace_back(last_, now - last_);
    last_ = now;
    ++messages_;
  }
  void write(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (!file) {
      std::perror(path.c_str());
      std::exit(1);
    }
    for (const auto& [begin, length] : gaps_)
      std::fprintf(file, "%lld %lld\n", static_cast<long long>(begin),
                   static_cast<long long>(length));
    std::fprintf(file, "messages %llu\n", static_cast<unsigned long long>(messages_));
    std::fclose(file);
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps_;
  std::int64_t last_ = now_ns();
  std::uint64_t messages_ = 0;
};

}  // namespace

double half_round_trip_us(const Pair& pair, std::size_t bytes, std::uint64_t rounds) {
  Buffer out(bytes, 'x'), in(bytes);
  return median_ns(rounds, [&] { ping_pong(pair, out, in); }) / 2e3;
}

double bandwidth_gbs(const Pair& pair, std::size_t bytes, std::uint64_t rounds) {
  const std::size_t window =
      std::clamp<std::size_t>(kWindowBytes / std::max<std::size_t>(bytes, 1), 1, kWindowMax);
  std::vector<Buffer> buffers(window, Buffer(bytes, 'x'));
  stream(pair, buffers);
  std::vector<std::int64_t> times;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::int64_t start = now_ns();
    stream(pair, buffers);
    times.push_back(now_ns() - start);
  }
  return static_cast<double>(bytes * window) / static_cast<double>(median(times));
}

void counted(const Pair& pair, std::size_t bytes, std::uint64_t rounds,
             const std::string& shared_file) {
  std::atomic<std::uint32_t>& word = shared_word(shared_file);
  Buffer out(bytes, 'x'), in(bytes);
  for (int i = 0; i < 100; ++i) ping_pong(pair, out, in);
  MPI_Barrier(MPI_COMM_WORLD);
  stop_clock(true);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto turn = static_cast<std::uint32_t>(2 * i);
    if (i % kBlockRounds == 0) block_begins();
    if (pair.rank == 0) {
      counted_send(out, pair.other);
      word.store(turn + 1);
      wait_for(word, turn + 2);
      counted_receive(in, pair.other);
    } else {
      wait_for(word, turn + 1);
      counted_receive(in, pair.other);
      counted_send(out, pair.other);
      word.store(turn + 2);
    }
  }
  stop_clock(false);
}

void gaps(const Pair& pair, std::size_t bytes, const std::string& stop_file,
          const std::string& log_file) {
  Buffer out(bytes, 'x'), in(bytes);
  GapLog log;
  std::int64_t look_at = 0;
  for (bool more = true; more;) {
    if (pair.rank == 0) {
      const std::int64_t now = now_ns();
      if (now >= look_at) {
        look_at = now + 20'000'000;
        more = ::access(stop_file.c_str(), F_OK) != 0;
      }
      send(out, pair.other, more ? kTag : kStopTag);
      receive(in, pair.other);
    } else {
      more = receive(in, pair.other) == kTag;
      send(out, pair.other);
    }
    log.delivered(now_ns());
  }
  log.write(log_file + "." + std::to_string(pair.rank));
}

}  // namespace perf
