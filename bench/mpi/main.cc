// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/main.cc -- bench_mpi: an MPI program that measures on order, so that several jobs over
// different transports can stand ready and take turns. Started by scripts/bench.
//
//   bench_mpi [--threads] orders DIRECTORY    reads orders from the pipe DIRECTORY/order.RANK, the
//                                             same on both ranks; rank 0 answers with a number a line
//                                             in the pipe DIRECTORY/answer:
//                                               KIND BYTES ROUNDS | quit, of the kinds latency,
//                                               bandwidth, put, fetch-add, put-bandwidth
//   bench_mpi counted BYTES ROUNDS FILE       lock step, for callgrind (measure.h)
//   bench_mpi gaps BYTES STOP LOG READY       ping-pong until STOP exists (measure.h)
//   bench_mpi idle|spin STOP READY            all ranks met once; sleep, or call MPI without pause
//   bench_mpi quanta COUNT FILE READY         all ranks met once; compute COUNT pieces of equal work, of about a
//                                             millisecond, and write how long each took, in ns, to FILE.RANK
// READY: each rank makes READY.RANK, with its process id in it, when it has reached that state.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "measure.h"

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: bench_mpi [--threads] orders DIRECTORY\n"
               "       bench_mpi counted BYTES ROUNDS FILE\n"
               "       bench_mpi gaps BYTES STOP LOG READY\n"
               "       bench_mpi idle|spin STOP READY\n"
               "       bench_mpi quanta COUNT FILE READY\n");
  std::exit(2);
}

std::uint64_t number(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 10); }

void make_ready(const std::string& file, int rank) {
  // It is read as soon as it appears, so it must appear complete.
  const std::string made = file + "-made." + std::to_string(rank);
  std::ofstream(made) << ::getpid() << "\n";
  std::rename(made.c_str(), (file + "." + std::to_string(rank)).c_str());
}

double measured(const perf::Pair& pair, const std::string& kind, std::size_t bytes,
                std::uint64_t rounds) {
  if (kind == "latency") return perf::half_round_trip_us(pair, bytes, rounds);
  if (kind == "bandwidth") return perf::bandwidth_gbs(pair, bytes, rounds);
  if (kind == "put") return perf::put_us(pair, bytes, rounds);
  if (kind == "fetch-add") return perf::fetch_add_us(pair, rounds);
  if (kind == "put-bandwidth") return perf::put_bandwidth_gbs(pair, bytes, rounds);
  usage();
}

int take_orders(const perf::Pair& pair, const std::string& directory) {
  std::ofstream answers;
  if (pair.rank == 0) answers.open(directory + "/answer");
  std::ifstream orders(directory + "/order." + std::to_string(pair.rank));
  std::string kind;
  std::size_t bytes = 0;
  std::uint64_t rounds = 0;
  while (orders >> kind && kind != "quit" && orders >> bytes >> rounds) {
    const double value = measured(pair, kind, bytes, rounds);
    if (pair.rank == 0) answers << value << std::endl;
  }
  return orders ? 0 : 1;
}

// Each rank knows its neighbours, as in a program that exchanges halos.
void meet_neighbours(int rank, int size) {
  int out = rank, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

void stay(bool spinning, const std::string& stop_file) {
  while (::access(stop_file.c_str(), F_OK) != 0) {
    for (int i = 0; spinning && i < 1000; ++i) {
      int there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    if (!spinning) ::usleep(50'000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void compute(std::uint64_t steps) {
  volatile std::uint64_t work = steps;
  for (std::uint64_t i = 0; i < steps; ++i)
    work = work * 6364136223846793005U + 1442695040888963407U;
}

double took_ns(std::uint64_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  compute(steps);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// The number of steps in about a millisecond, by the fastest of several tries.
std::uint64_t steps_of_a_quantum() {
  constexpr std::uint64_t kTried = 100'000;
  double fastest = took_ns(kTried);
  for (int i = 0; i < 50; ++i) fastest = std::min(fastest, took_ns(kTried));
  return static_cast<std::uint64_t>(static_cast<double>(kTried) * 1e6 / fastest);
}

void quanta(std::uint64_t count, const std::string& file, int rank) {
  const std::uint64_t steps = steps_of_a_quantum();
  std::vector<double> took;
  took.reserve(count);
  while (took.size() < count) took.push_back(took_ns(steps));
  std::ofstream out(file + "." + std::to_string(rank));
  for (const double each : took) out << static_cast<std::uint64_t>(each) << "\n";
}

int run(const Words& words, int rank, int size) {
  const perf::Pair pair{rank, 1 - rank};
  const std::string& mode = words[0];
  if (mode == "orders" && words.size() == 2 && size == 2) return take_orders(pair, words[1]);
  if (mode == "counted" && words.size() == 4 && size == 2) {
    perf::counted(pair, number(words[1]), number(words[2]), words[3]);
  } else if (mode == "gaps" && words.size() == 5 && size == 2) {
    make_ready(words[4], rank);
    perf::gaps(pair, number(words[1]), words[2], words[3]);
  } else if ((mode == "idle" || mode == "spin") && words.size() == 3) {
    meet_neighbours(rank, size);
    make_ready(words[2], rank);
    stay(mode == "spin", words[1]);
  } else if (mode == "quanta" && words.size() == 4) {
    meet_neighbours(rank, size);
    make_ready(words[3], rank);
    quanta(number(words[1]), words[2], rank);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    usage();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  const bool threads = !words.empty() && words[0] == "--threads";
  if (threads) words.erase(words.begin());
  if (words.empty()) usage();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (threads && provided != MPI_THREAD_MULTIPLE) {
    std::fprintf(stderr, "bench_mpi: this MPI gives no MPI_THREAD_MULTIPLE here\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int code = run(words, rank, size);
  MPI_Finalize();
  return code;
}
