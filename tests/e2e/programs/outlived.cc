// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/outlived.cc -- what outlives its communicator's last handle: messages that
// were set aside, and a receive that nobody sends to, which MPI_Finalize ends. For the component
// alone: cm reads communicators of such messages after they were freed. Each rank prints a line of
// JSON.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kTag = 3;

/// Reuses recently freed memory, for good: nobody finds a communicator there by luck.
void use_freed_memory() {
  constexpr std::size_t kLargest = 4096;
  static std::vector<std::vector<char>> blocks;
  for (std::size_t bytes = 16; bytes <= kLargest; bytes += 16) {
    for (int i = 0; i < 8; ++i) blocks.emplace_back(bytes, char{0});
  }
}

std::vector<char> content(int bytes) {
  std::vector<char> made(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>(i * 7);
  return made;
}

bool receive(int bytes, bool waits) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(0, kTag, copy, &message, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
  use_freed_memory();
  std::vector<char> in(static_cast<std::size_t>(bytes));
  if (waits) {
    MPI_Mrecv(in.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request;
    MPI_Imrecv(in.data(), bytes, MPI_BYTE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return in == content(bytes);
}

bool send(int bytes) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const std::vector<char> out = content(bytes);
  MPI_Request request;
  MPI_Isend(out.data(), bytes, MPI_BYTE, 1, kTag, copy, &request);
  MPI_Comm_free(&copy);
  return MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/// The receive exists until MPI_Finalize, and refers to its communicator when nobody else does.
void leave_a_receive(int& into, int from, bool frees_request) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Request request;
  MPI_Irecv(&into, 1, MPI_INT, from, kTag, copy, &request);
  if (frees_request) MPI_Request_free(&request);
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, into = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool right = true;
  for (const int bytes : {16, 1 << 20}) {
    for (const bool waits : {true, false})
      right = (rank == 0 ? send(bytes) : receive(bytes, waits)) && right;
  }
  for (const bool frees_request : {true, false}) leave_a_receive(into, 1 - rank, frees_request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  use_freed_memory();
  std::printf("{\"outlived\": \"%s: %s\"}\n", rank == 0 ? "sender" : "receiver",
              right ? "right" : "wrong");
  return right ? 0 : 1;
}
