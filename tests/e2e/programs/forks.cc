// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/forks.cc -- processes fork in the middle of their messages: a child that ends
// by exit(), and so runs what the libraries registered for the end of a process; one that runs
// another program; one that lives on for some rounds with copies of all that its parent holds.
//
// A child makes no MPI call. Whatever it does must not affect its parent's messages.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>

#include "proof.h"

namespace {

constexpr int kTag = 5;
constexpr std::size_t kLingering = 4;  // children alive at the same time
constexpr std::array<std::size_t, 4> kSizes{16, 5000, 100'000, 400'000};  // the last may be lent

/// A child that the parent forks and waits for.
class Child {
 public:
  enum class Ends { kByExit, kByExec, kWhenToldTo };

  explicit Child(Ends ends) {
    if (::pipe(told_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ < 0) std::abort();
    if (pid_ > 0) return;
    if (ends == Ends::kByExit) std::exit(0);
    if (ends == Ends::kByExec) {
      ::execl("/bin/true", "true", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    char byte = 0;
    std::exit(::read(told_[0], &byte, 1) == 1 ? 0 : 1);
  }

  /// Returns the child's exit code, or 128 or more.
  int end() {
    int status = 0;
    const bool waited = ::write(told_[1], "e", 1) == 1 && ::waitpid(pid_, &status, 0) == pid_;
    ::close(told_[0]);
    ::close(told_[1]);
    if (!waited) return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  int told_[2] = {-1, -1};
  pid_t pid_ = -1;
};

/// One message each way with every peer and size, begun before the fork and ended after it.
struct Exchange {
  e2e::Ledger& ledger;
  int rank, size;
  std::vector<std::vector<std::byte>> in, out;
  std::vector<MPI_Request> requests;

  void begin() {
    for (int step = 1; step < size; ++step) {
      for (const std::size_t bytes : kSizes) {
        const int peer = (rank + step) % size;
        MPI_Request request;
        in.emplace_back(bytes);
        MPI_Irecv(in.back().data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, ledger.comm(),
                  &request);
        requests.push_back(request);
        out.emplace_back(bytes);
        ledger.write(out.back().data(), bytes, peer, kTag);
        MPI_Isend(out.back().data(), static_cast<int>(bytes), MPI_BYTE, peer, kTag, ledger.comm(),
                  &request);
        requests.push_back(request);
      }
    }
  }

  void end() {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    std::size_t index = 0;
    for (int step = 1; step < size; ++step) {
      for (std::size_t message = 0; message < kSizes.size(); ++message, ++index) {
        ledger.read(in[index].data(), in[index].size(), (rank + step) % size, kTag);
      }
    }
  }
};

void round(e2e::Proof& proof, e2e::Ledger& ledger, std::deque<Child>& lingering) {
  constexpr Child::Ends kinds[] = {Child::Ends::kByExit, Child::Ends::kByExec};
  for (const Child::Ends ends : kinds) {
    Exchange exchange{ledger, proof.rank(), proof.size(), {}, {}, {}};
    exchange.begin();
    Child child(ends);
    exchange.end();
    proof.expect(child.end() == 0, "a forked child did not end as it should");
  }
  lingering.emplace_back(Child::Ends::kWhenToldTo);
  if (lingering.size() <= kLingering) return;
  proof.expect(lingering.front().end() == 0, "a child that lived on did not end as it should");
  lingering.pop_front();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    e2e::Proof proof(argc, argv, "forks");
    e2e::Ledger ledger(proof, MPI_COMM_WORLD);
    std::deque<Child> lingering;
    while (proof.next_round()) round(proof, ledger, lingering);
    for (; !lingering.empty(); lingering.pop_front()) {
      proof.expect(lingering.front().end() == 0, "a child that lived on did not end as it should");
    }
    ledger.settle();
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
