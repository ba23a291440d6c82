// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_lending.cc -- see sm_lending.h.
#include "transports/sm/sm_lending.h"

#include "base/assert.h"
#include "base/secret.h"

namespace livebtl::sm {
namespace {

enum LoanState : std::uint64_t { kWithdrawn, kOffered, kMoved, kFetched, kRefused, kShared };

constexpr std::uint64_t word_of(std::uint64_t number, LoanState state) noexcept {
  return number << 3 | state;
}
std::atomic_ref<std::uint64_t> shared(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word);
}
std::uint64_t address_of(const void* place) noexcept {
  return reinterpret_cast<std::uintptr_t>(place);
}
/// false: the word was another one; nothing changed. Nothing that the caller did before it, copying
/// above all, is seen to happen after it.
bool step(std::uint64_t& word, std::uint64_t from, std::uint64_t to) noexcept {
  return shared(word).compare_exchange_strong(from, to, std::memory_order_seq_cst);
}

}  // namespace

Lender::Lender(LendingWords& words, std::byte* spare)
    : words_(&words), spare_(spare), probe_(std::make_unique<std::uint64_t>(random_u64())) {
  words.probe = *probe_;
  shared(words.probe_address).store(address_of(probe_.get()), std::memory_order_release);
}

bool Lender::allowed() const noexcept {
  if (!allowed_ && !spoilt_ && words_ != nullptr)
    allowed_ = shared(words_->readable).load(std::memory_order_relaxed) == 1;
  return allowed_;
}

LoanRecord Lender::lend(Bytes payload, std::uint64_t cookie) noexcept {
  LIVEBTL_ASSERT(words_ != nullptr && !full(), "a slot is free");
  const auto slot = static_cast<std::uint32_t>(lent_ % kLoansMax);
  const std::uint64_t number = ++lent_;
  loans_[slot] = {number, cookie, payload, nullptr};
  LoanWords& words = words_->loans[slot];
  shared(words.address).store(address_of(payload.data()), std::memory_order_relaxed);
  shared(words.state).store(word_of(number, kOffered), std::memory_order_release);
  return {number, slot, static_cast<std::uint32_t>(payload.size())};
}

std::uint64_t Lender::state_of_oldest() const noexcept {
  const std::size_t slot = returned_ % kLoansMax;
  const Loan& loan = loans_[slot];
  const std::uint64_t word = shared(words_->loans[slot].state).load(std::memory_order_acquire);
  const LoanState ours = shares_ ? kShared : loan.copy != nullptr ? kMoved : kOffered;
  if (word == word_of(loan.number, kFetched)) return kFetched;
  if (word == word_of(loan.number, kRefused) && !shares_) return kRefused;
  if (word != word_of(loan.number, ours)) corrupt_ = true;
  return ours;
}

bool Lender::fetched() const noexcept {
  return outstanding() != 0 && state_of_oldest() == kFetched;
}

bool Lender::refused() const noexcept {
  return outstanding() != 0 && state_of_oldest() == kRefused;
}

// The receiver takes loans in their order: it has asked for no other one.
void Lender::share() noexcept {
  const std::size_t slot = returned_ % kLoansMax;
  const Loan& loan = loans_[slot];
  std::memcpy(spare_, loan.copy != nullptr ? loan.copy.get() : loan.payload.data(),
              loan.payload.size());
  shared(words_->loans[slot].state).store(word_of(loan.number, kShared), std::memory_order_release);
  shares_ = spoilt_ = true;
  allowed_ = false;
}

std::uint64_t Lender::take_back() noexcept {
  Loan& loan = loans_[returned_++ % kLoansMax];
  loan.copy.reset();
  shares_ = false;
  return loan.cookie;
}

// The copy is whole before its address is told, and its address before the word: whoever reads the
// old address and the new word, or the other way about, has read good bytes or copies again.
void Lender::move_out() {
  for (std::uint64_t each = returned_; each < lent_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kLoansMax);
    Loan& loan = loans_[slot];
    if (loan.copy != nullptr || (shares_ && each == returned_)) continue;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(loan.payload.size());
    std::memcpy(copy.get(), loan.payload.data(), loan.payload.size());
    LoanWords& words = words_->loans[slot];
    shared(words.address).store(address_of(copy.get()), std::memory_order_release);
    if (step(words.state, word_of(loan.number, kOffered), word_of(loan.number, kMoved)))
      loan.copy = std::move(copy);  // else it has just been fetched, or refused
  }
  if (refused()) share();
}

void Lender::withdraw() noexcept {
  for (std::uint64_t each = returned_; each < lent_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kLoansMax);
    // An exchange: either this or the peer's step comes first, and what the owner writes next
    // after.
    shared(words_->loans[slot].state).exchange(kWithdrawn, std::memory_order_seq_cst);
    loans_[slot].copy.reset();
  }
  returned_ = lent_;
  words_ = nullptr;
  allowed_ = false;
}

void Fetcher::probe() noexcept {
  if (words_ == nullptr) return;
  const std::uint64_t address = shared(words_->probe_address).load(std::memory_order_acquire);
  const std::uint64_t probe = shared(words_->probe).load(std::memory_order_relaxed);
  if (address != 0 && memory_.knows(address, probe))
    shared(words_->readable).store(1, std::memory_order_release);
}

// A word can change twice under an honest peer: moved, then withdrawn.
Fetcher::Outcome Fetcher::fetch(const LoanRecord& record, MutableBytes into) noexcept {
  LIVEBTL_ASSERT(into.size() == record.bytes && record.bytes <= kLoanBytesMax, "what is lent");
  if (words_ == nullptr || record.slot >= kLoansMax) return Outcome::kCorrupt;
  LoanWords& words = words_->loans[record.slot];
  if (asked_ != nullptr) return fetch_shared(words, record.number, into);
  if (forgotten_) return Outcome::kGone;
  for (int tries = 0; tries < 4; ++tries) {
    const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
    if (word == kWithdrawn) return Outcome::kGone;
    if (word != word_of(record.number, kOffered) && word != word_of(record.number, kMoved))
      return Outcome::kCorrupt;
    const std::uint64_t address = shared(words.address).load(std::memory_order_acquire);
    const bool done = memory_.read(address, into);
    if (!step(words.state, word, word_of(record.number, done ? kFetched : kRefused))) continue;
    if (done) return Outcome::kDone;
    asked_ = &words;
    return Outcome::kAsked;
  }
  return Outcome::kCorrupt;
}

Fetcher::Outcome Fetcher::fetch_shared(LoanWords& words, std::uint64_t number,
                                       MutableBytes into) noexcept {
  const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
  if (word == kWithdrawn) return Outcome::kGone;
  if (word == word_of(number, kRefused)) return forgotten_ ? Outcome::kGone : Outcome::kAsked;
  if (&words != asked_ || word != word_of(number, kShared)) return Outcome::kCorrupt;
  std::memcpy(into.data(), spare_, into.size());
  asked_ = nullptr;
  return step(words.state, word, word_of(number, kFetched)) ? Outcome::kDone : Outcome::kGone;
}

bool Fetcher::asks() const noexcept {
  if (asked_ == nullptr || forgotten_) return false;
  return (shared(asked_->state).load(std::memory_order_acquire) & 7) == kRefused;
}

void Fetcher::forget_peer() noexcept { forgotten_ = true; }

}  // namespace livebtl::sm
