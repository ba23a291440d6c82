// SPDX-License-Identifier: BSD-3-Clause
// The biased lock in a process restored by CRIU: the kernel has forgotten its registration for
// membarrier(2). A system call filter plays that kernel, in a child that no other test shares.
#include <doctest/doctest.h>

#include "core/engine/biased_lock.h"

#if defined(__x86_64__)  // the played kernel accesses registers by name
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <thread>

namespace {

using livebtl::core::BiasedLock;

constexpr int kFilterRefused = 77;
std::atomic<bool> g_registered{false};

/// Answers membarrier(2) in place of the kernel.
void answer_membarrier(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool asks = registers[REG_RDI] == MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  if (!asks) g_registered = true;
  registers[REG_RAX] = asks && !g_registered ? -EPERM : 0;
}

bool forget_registration() {
  struct sigaction action {};
  action.sa_sigaction = answer_membarrier;
  action.sa_flags = SA_SIGINFO;
  std::array<sock_filter, 4> program = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::sigaction(SIGSYS, &action, nullptr) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Runs in the child; returns its exit code.
int lock_when_restored() {
  BiasedLock lock;
  lock.lock();
  lock.unlock();
  if (!lock.biased()) return 0;  // by design: no membarrier to be forgotten
  if (!forget_registration()) return kFilterRefused;
  std::thread([&lock] {
    lock.lock(BiasedLock::Caller::kAgent);
    lock.unlock();
  }).join();
  return g_registered && lock.biased() ? 0 : 1;
}

}  // namespace

TEST_CASE("a restored process registers for barriers anew, and its agent gets the lock") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(lock_when_restored());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
