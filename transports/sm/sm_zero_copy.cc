// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_zero_copy.cc -- see sm_zero_copy.h.
#include "transports/sm/sm_zero_copy.h"

#include "base/assert.h"
#include "base/secret.h"

namespace livebtl::sm {
namespace {

enum ExposureState : std::uint64_t { kWithdrawn, kOffered, kMoved, kRead, kRefused, kShared };

constexpr std::uint64_t word_of(std::uint64_t number, ExposureState state) noexcept {
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

Exporter::Exporter(ZeroCopyWords& words, std::byte* spare)
    : words_(&words), spare_(spare), probe_(std::make_unique<std::uint64_t>(random_u64())) {
  words.probe = *probe_;
  shared(words.probe_address).store(address_of(probe_.get()), std::memory_order_release);
}

bool Exporter::allowed() const noexcept {
  if (!allowed_ && !spoilt_ && words_ != nullptr)
    allowed_ = shared(words_->readable).load(std::memory_order_relaxed) == 1;
  return allowed_;
}

ExposureRecord Exporter::expose(Bytes payload, std::uint64_t cookie) noexcept {
  LIVEBTL_ASSERT(words_ != nullptr && !full(), "a slot is free");
  const auto slot = static_cast<std::uint32_t>(exposed_ % kExposuresMax);
  const std::uint64_t number = ++exposed_;
  exposures_[slot] = {number, cookie, payload, nullptr};
  ExposureWords& words = words_->exposures[slot];
  shared(words.address).store(address_of(payload.data()), std::memory_order_relaxed);
  shared(words.state).store(word_of(number, kOffered), std::memory_order_release);
  return {number, slot, static_cast<std::uint32_t>(payload.size())};
}

std::uint64_t Exporter::state_of_oldest() const noexcept {
  const std::size_t slot = returned_ % kExposuresMax;
  const Exposure& exposure = exposures_[slot];
  const std::uint64_t word = shared(words_->exposures[slot].state).load(std::memory_order_acquire);
  const ExposureState ours = shares_ ? kShared : exposure.copy != nullptr ? kMoved : kOffered;
  if (word == word_of(exposure.number, kRead)) return kRead;
  if (word == word_of(exposure.number, kRefused) && !shares_) return kRefused;
  if (word != word_of(exposure.number, ours)) corrupt_ = true;
  return ours;
}

bool Exporter::was_read() const noexcept {
  return outstanding() != 0 && state_of_oldest() == kRead;
}

bool Exporter::refused() const noexcept {
  return outstanding() != 0 && state_of_oldest() == kRefused;
}

// The receiver reads buffers in their order: it has asked for no other one.
void Exporter::share() noexcept {
  const std::size_t slot = returned_ % kExposuresMax;
  const Exposure& exposure = exposures_[slot];
  std::memcpy(spare_, exposure.copy != nullptr ? exposure.copy.get() : exposure.payload.data(),
              exposure.payload.size());
  shared(words_->exposures[slot].state)
      .store(word_of(exposure.number, kShared), std::memory_order_release);
  shares_ = spoilt_ = true;
  allowed_ = false;
}

std::uint64_t Exporter::take_back() noexcept {
  Exposure& exposure = exposures_[returned_++ % kExposuresMax];
  exposure.copy.reset();
  shares_ = false;
  return exposure.cookie;
}

// The copy is whole before its address is told, and its address before the word: a
// reader of the old address and the new word, or the other way about, has read good bytes or copies
// again. It is kept even if the word has changed meanwhile, by a refusal above all: share() must
// not look at the payload any more.
void Exporter::move_out() {
  for (std::uint64_t each = returned_; each < exposed_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kExposuresMax);
    Exposure& exposure = exposures_[slot];
    if (exposure.copy != nullptr || (shares_ && each == returned_)) continue;
    auto copy = std::make_unique_for_overwrite<std::byte[]>(exposure.payload.size());
    std::memcpy(copy.get(), exposure.payload.data(), exposure.payload.size());
    ExposureWords& words = words_->exposures[slot];
    shared(words.address).store(address_of(copy.get()), std::memory_order_release);
    step(words.state, word_of(exposure.number, kOffered), word_of(exposure.number, kMoved));
    exposure.copy = std::move(copy);
  }
  if (refused()) share();
}

void Exporter::withdraw() noexcept {
  for (std::uint64_t each = returned_; each < exposed_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kExposuresMax);
    // An exchange: either this or the peer's step comes first, and what the owner writes next
    // after.
    shared(words_->exposures[slot].state).exchange(kWithdrawn, std::memory_order_seq_cst);
    exposures_[slot].copy.reset();
  }
  returned_ = exposed_;
  words_ = nullptr;
  allowed_ = false;
}

void RemoteReader::probe() noexcept {
  if (words_ == nullptr) return;
  const std::uint64_t address = shared(words_->probe_address).load(std::memory_order_acquire);
  const std::uint64_t probe = shared(words_->probe).load(std::memory_order_relaxed);
  if (address != 0 && memory_.knows(address, probe))
    shared(words_->readable).store(1, std::memory_order_release);
}

// A word can change twice under an honest peer: moved, then withdrawn.
RemoteReader::Outcome RemoteReader::read(const ExposureRecord& record, MutableBytes into) noexcept {
  LIVEBTL_ASSERT(into.size() == record.bytes && record.bytes <= kExposureBytesMax,
                 "an exposed buffer");
  if (words_ == nullptr || record.slot >= kExposuresMax) return Outcome::kCorrupt;
  ExposureWords& words = words_->exposures[record.slot];
  if (asked_ != nullptr) return read_shared(words, record.number, into);
  if (forgotten_) return Outcome::kGone;
  for (int tries = 0; tries < 4; ++tries) {
    const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
    if (word == kWithdrawn) return Outcome::kGone;
    if (word != word_of(record.number, kOffered) && word != word_of(record.number, kMoved))
      return Outcome::kCorrupt;
    const std::uint64_t address = shared(words.address).load(std::memory_order_acquire);
    const bool done = memory_.read(address, into);
    if (!step(words.state, word, word_of(record.number, done ? kRead : kRefused))) continue;
    if (done) return Outcome::kDone;
    asked_ = &words;
    return Outcome::kAsked;
  }
  return Outcome::kCorrupt;
}

RemoteReader::Outcome RemoteReader::read_shared(ExposureWords& words, std::uint64_t number,
                                                MutableBytes into) noexcept {
  const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
  if (word == kWithdrawn) return Outcome::kGone;
  if (word == word_of(number, kRefused)) return forgotten_ ? Outcome::kGone : Outcome::kAsked;
  if (&words != asked_ || word != word_of(number, kShared)) return Outcome::kCorrupt;
  std::memcpy(into.data(), spare_, into.size());
  asked_ = nullptr;
  return step(words.state, word, word_of(number, kRead)) ? Outcome::kDone : Outcome::kGone;
}

bool RemoteReader::asks() const noexcept {
  if (asked_ == nullptr || forgotten_) return false;
  return (shared(asked_->state).load(std::memory_order_acquire) & 7) == kRefused;
}

void RemoteReader::forget_peer() noexcept { forgotten_ = true; }

}  // namespace livebtl::sm
