// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_lending.h -- large payloads that stay where they are until the receiver copies
// them out of the sender's memory: one copy instead of two. docs/adr/0013 has the reasons.
//
// A loan has a slot in the shared segment; its record in the ring names the slot, so that it comes
// in order with all else. The slot's word says where the bytes lie:
//   offered -> fetched            copied; the payload is its owner's again
//   offered -> moved -> fetched   the owner wanted it back at once: the same bytes lie in a copy
//   offered, moved -> refused -> shared -> fetched
//                                 the kernel does not let the receiver read any more, so the owner
//                                 puts a copy into the segment; nothing is lent from then on
//   any but fetched -> withdrawn  the connection has ended here
// Each step is one compare-and-swap. The receiver makes its own only *after* it has copied: what it
// copied while the word changed is thrown away, as under a sequence lock. So neither waits for the
// other's next step, however long that is stopped before it.
//
// Threads: Lender the one side's, Fetcher the other's; LendingWords are shared. Trust: each side
// takes the other's words for hostile; a lender whose words make no sense is told by corrupt().
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "transports/interface/transport.h"
#include "transports/sm/sm_peer_memory.h"

namespace livebtl::sm {

/// Largest payload that is lent: as much as may be copied in one go under the engine's lock.
inline constexpr std::uint32_t kLoanBytesMax = 256u << 10;
inline constexpr std::uint32_t kLoansMax = 4;

/// In shared memory; for each direction of a connection.
struct alignas(64) LoanWords {
  std::uint64_t state = 0;  // number << 3 | LoanState; each loan has the next number
  std::uint64_t address = 0;
};
struct LendingWords {
  // The lender's: a number of its own and where it lies, to show that its memory can be read.
  alignas(128) std::uint64_t probe_address = 0;
  std::uint64_t probe = 0;
  LoanWords loans[kLoansMax];               // both write the states
  alignas(128) std::uint64_t readable = 0;  // the fetcher's: 1 once it has read the probe
};
static_assert(sizeof(LendingWords) == 512);

/// What goes through the ring in the payload's stead.
struct LoanRecord {
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  std::uint32_t bytes = 0;
};
static_assert(sizeof(LoanRecord) == 16);

class Lender {
 public:
  /// words: zero; of this side's direction. spare: kLoanBytesMax of shared memory, seldom touched.
  /// Draws the probe.
  Lender(LendingWords& words, std::byte* spare);
  ~Lender() { withdraw(); }
  Lender(Lender&&) = delete;

  /// Has the peer shown that it can read here?
  bool allowed() const noexcept;
  bool full() const noexcept { return lent_ - returned_ == kLoansMax; }
  /// Requires: !full(). The payload stays in use until take_back(), move_out() or withdraw().
  LoanRecord lend(Bytes payload, std::uint64_t cookie) noexcept;
  std::size_t outstanding() const noexcept { return static_cast<std::size_t>(lent_ - returned_); }
  /// Has the oldest loan been fetched?
  bool fetched() const noexcept;
  /// Is the oldest one refused? Then share() is due.
  bool refused() const noexcept;
  /// Puts the oldest loan where the peer can read it, and lends no more. Requires: refused().
  void share() noexcept;
  /// Ends it, and returns its cookie. Requires: fetched().
  std::uint64_t take_back() noexcept;
  /// Copies what is still lent: the payloads are their owners' again. take_back() follows as ever.
  void move_out();
  /// Nothing lent can be fetched any more, and nothing can be lent.
  void withdraw() noexcept;
  /// The peer wrote what cannot be.
  bool corrupt() const noexcept { return corrupt_; }

 private:
  struct Loan {
    std::uint64_t number = 0;
    std::uint64_t cookie = 0;
    Bytes payload;
    std::unique_ptr<std::byte[]> copy;
  };
  std::uint64_t state_of_oldest() const noexcept;

  LendingWords* words_ = nullptr;
  std::byte* spare_ = nullptr;
  std::unique_ptr<std::uint64_t> probe_;
  std::array<Loan, kLoansMax> loans_;  // the n-th is in slot n % kLoansMax
  std::uint64_t lent_ = 0;
  std::uint64_t returned_ = 0;
  bool shares_ = false;  // the oldest is shared
  bool spoilt_ = false;  // something was refused
  mutable bool allowed_ = false;
  mutable bool corrupt_ = false;
};

class Fetcher {
 public:
  /// Fetches nothing.
  Fetcher() noexcept = default;
  /// words, spare: of the peer's direction.
  Fetcher(LendingWords& words, const std::byte* spare, PeerMemory memory) noexcept
      : words_(&words), spare_(spare), memory_(memory) {}

  /// Tells the peer whether its memory can be read from here. Once the peer has mapped the segment.
  void probe() noexcept;

  enum class Outcome : std::uint8_t { kDone, kGone, kCorrupt, kAsked };
  /// record: as found in the ring, hostile. Of kDone alone the bytes mean anything. kGone:
  /// withdrawn, or the peer has ended. kAsked: it cannot be read (errno says why), and its owner
  /// is asked for a copy; again when asks() is false.
  Outcome fetch(const LoanRecord& record, MutableBytes into) noexcept;
  /// Waits for the copy that it has asked for.
  bool asks() const noexcept;
  /// The peer has ended: only what it has shared already still comes.
  void forget_peer() noexcept;

 private:
  Outcome fetch_shared(LoanWords& words, std::uint64_t number, MutableBytes into) noexcept;

  LendingWords* words_ = nullptr;
  const std::byte* spare_ = nullptr;
  PeerMemory memory_;
  LoanWords* asked_ = nullptr;
  bool forgotten_ = false;
};

}  // namespace livebtl::sm
