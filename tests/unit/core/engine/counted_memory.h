// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/counted_memory.h -- memory that records each instruction that touches it:
// it is inaccessible, so each access faults; the handler lets one instruction through, with the
// processor's trap flag, and revokes access again. One at a time; one thread. x86-64.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace livebtl::test {

class CountedMemory {
 public:
  /// base: whole pages, readable and writable.
  CountedMemory(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {
    touched_.reserve(16384);  // the handlers may not allocate
    watching() = this;
    set_handler(SIGSEGV, &on_fault, segv_before_);
    set_handler(SIGTRAP, &on_step, trap_before_);
    protect(PROT_NONE);
  }
  ~CountedMemory() {
    protect(PROT_READ | PROT_WRITE);
    ::sigaction(SIGSEGV, &segv_before_, nullptr);
    ::sigaction(SIGTRAP, &trap_before_, nullptr);
    watching() = nullptr;
  }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;

  /// How many instructions have touched it.
  std::size_t touches() const noexcept { return touched_.size(); }
  /// How many of them began at that byte.
  std::size_t touches_of(const void* byte) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count(touched_, static_cast<const std::byte*>(byte)));
  }
  /// How many times [from, to) was gone through from one end to the other. memcpy() reads the first
  /// and last bytes out of turn: leave them out of the range.
  std::size_t passes(const std::byte* from, const std::byte* to) const noexcept {
    std::size_t touches = 0;
    std::size_t rises = 0;
    std::size_t falls = 0;
    const std::byte* before = nullptr;
    for (const std::byte* const at : touched_) {
      if (at < from || at >= to) continue;
      rises += ++touches > 1 && at >= before;
      falls += touches > 1 && at <= before;
      before = at;
    }
    return touches < 3 ? touches : 1 + std::min(rises, falls);
  }

 private:
  static constexpr greg_t kTrapFlag = 0x100;

  static CountedMemory*& watching() {
    static CountedMemory* memory = nullptr;
    return memory;
  }
  void protect(int how) noexcept { ::mprotect(base_, bytes_, how); }
  static void set_handler(int signal, void (*handler)(int, siginfo_t*, void*),
                          struct sigaction& before) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    REQUIRE(::sigaction(signal, &action, &before) == 0);
  }
  static void on_fault(int, siginfo_t* info, void* context) {
    CountedMemory& self = *watching();
    const auto* const at = static_cast<const std::byte*>(info->si_addr);
    if (at < self.base_ || at >= self.base_ + self.bytes_) {  // a genuine fault of the program
      ::sigaction(SIGSEGV, &self.segv_before_, nullptr);
      return;
    }
    if (self.touched_.size() < self.touched_.capacity()) self.touched_.push_back(at);
    self.protect(PROT_READ | PROT_WRITE);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  }
  static void on_step(int, siginfo_t*, void* context) {
    watching()->protect(PROT_NONE);
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  }

  std::byte* const base_;
  const std::size_t bytes_;
  std::vector<const std::byte*> touched_;
  struct sigaction segv_before_ {};
  struct sigaction trap_before_ {};
};

/// A mapping of its own, which may be counted.
class Pages {
 public:
  static constexpr std::size_t kBytes = 16384;
  Pages() {
    void* const base =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base != MAP_FAILED);
    base_ = static_cast<std::byte*>(base);
  }
  ~Pages() { ::munmap(base_, kBytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* base() const noexcept { return base_; }

 private:
  std::byte* base_ = nullptr;
};

}  // namespace livebtl::test
