// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_lending.cc -- see sm_lending.h.
#include "transports/sm/sm_lending.h"

#include "base/assert.h"
#include "base/secret.h"

namespace livebtl::sm {
namespace {

enum LoanState : std::uint64_t { kWithdrawn, kOffered, kMoved, kFetched };

constexpr std::uint64_t word_of(std::uint64_t number, LoanState state) noexcept {
  return number << 2 | state;
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

Lender::Lender(LendingWords& words)
    : words_(&words), probe_(std::make_unique<std::uint64_t>(random_u64())) {
  words.probe = *probe_;
  shared(words.probe_address).store(address_of(probe_.get()), std::memory_order_release);
}

bool Lender::allowed() const noexcept {
  if (!allowed_ && words_ != nullptr)
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

std::uint64_t Lender::state_of(std::uint32_t slot) const noexcept {
  const Loan& loan = loans_[slot];
  const std::uint64_t word = shared(words_->loans[slot].state).load(std::memory_order_acquire);
  const LoanState ours = loan.copy != nullptr ? kMoved : kOffered;
  if (word == word_of(loan.number, kFetched)) return kFetched;
  if (word != word_of(loan.number, ours)) corrupt_ = true;
  return ours;
}

bool Lender::fetched() const noexcept {
  return outstanding() != 0 && state_of(returned_ % kLoansMax) == kFetched;
}

std::uint64_t Lender::take_back() noexcept {
  Loan& loan = loans_[returned_++ % kLoansMax];
  loan.copy.reset();
  return loan.cookie;
}

// The copy is whole before its address is told, and its address before the word: whoever reads the
// old address and the new word, or the other way about, has read good bytes or copies again.
void Lender::move_out() {
  for (std::uint64_t each = returned_; each < lent_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kLoansMax);
    Loan& loan = loans_[slot];
    if (loan.copy != nullptr) continue;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(loan.payload.size());
    std::memcpy(copy.get(), loan.payload.data(), loan.payload.size());
    LoanWords& words = words_->loans[slot];
    shared(words.address).store(address_of(copy.get()), std::memory_order_release);
    if (step(words.state, word_of(loan.number, kOffered), word_of(loan.number, kMoved)))
      loan.copy = std::move(copy);  // else it has just been fetched
  }
}

void Lender::withdraw() noexcept {
  for (std::uint64_t each = returned_; each < lent_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kLoansMax);
    shared(words_->loans[slot].state).store(kWithdrawn, std::memory_order_seq_cst);
    loans_[slot].copy.reset();
  }
  returned_ = lent_;
  words_ = nullptr;
  allowed_ = false;
}

void Fetcher::probe() noexcept {
  if (words_ == nullptr) return;
  const std::uint64_t address = shared(words_->probe_address).load(std::memory_order_acquire);
  std::uint64_t found = 0;
  const bool read = address != 0 &&
                    memory_.read(address, {reinterpret_cast<std::byte*>(&found), sizeof(found)}) ==
                        PeerMemory::Read::kDone;
  if (read && found == shared(words_->probe).load(std::memory_order_relaxed))
    shared(words_->readable).store(1, std::memory_order_release);
}

// A word can change twice under an honest peer: moved, then withdrawn.
Fetcher::Outcome Fetcher::fetch(const LoanRecord& record, MutableBytes into) noexcept {
  LIVEBTL_ASSERT(into.size() == record.bytes, "as much as is lent");
  if (words_ == nullptr || record.slot >= kLoansMax) return Outcome::kCorrupt;
  LoanWords& words = words_->loans[record.slot];
  for (int tries = 0; tries < 4; ++tries) {
    const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
    if (word == kWithdrawn) return Outcome::kGone;
    if (word != word_of(record.number, kOffered) && word != word_of(record.number, kMoved))
      return Outcome::kCorrupt;
    const std::uint64_t address = shared(words.address).load(std::memory_order_acquire);
    const PeerMemory::Read read = memory_.read(address, into);
    if (read == PeerMemory::Read::kGone) return Outcome::kGone;
    if (read == PeerMemory::Read::kDone &&
        step(words.state, word, word_of(record.number, kFetched)))
      return Outcome::kDone;
    if (read == PeerMemory::Read::kRefused &&
        shared(words.state).load(std::memory_order_acquire) == word)
      return Outcome::kRefused;
  }
  return Outcome::kCorrupt;
}

}  // namespace livebtl::sm
