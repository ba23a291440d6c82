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
/// false: the word had another value; nothing changed. Nothing that the caller did before, copying
/// above all, is seen to happen after it.
bool step(std::uint64_t& word, std::uint64_t from, std::uint64_t to) noexcept {
  return shared(word).compare_exchange_strong(from, to, std::memory_order_seq_cst);
}

}  // namespace

Exporter::Exporter(ZeroCopyWords& words, std::byte* spare, const KnemDevice& knem)
    : words_(&words),
      spare_(spare),
      knem_(knem),
      probe_(std::make_unique<std::uint64_t>(random_u64())),
      probe_region_(knem, {}, *probe_) {
  words.probe = *probe_;
  words.probe_cookie = probe_region_.cookie();
  shared(words.probe_address).store(address_of(probe_.get()), std::memory_order_release);
}

// The peer's word is kept once it is not 0; a bit without a meaning here asks for nothing.
CopyWay Exporter::way() const noexcept {
  if (spoilt_ || words_ == nullptr) return kByNone;
  if (readable_ == 0) readable_ = shared(words_->readable).load(std::memory_order_relaxed);
  const bool either = wanted_ == SingleCopy::kAuto;
  if ((either || wanted_ == SingleCopy::kCma) && (readable_ & kByCma) != 0) return kByCma;
  if ((either || wanted_ == SingleCopy::kKnem) && (readable_ & kByKnem) != 0 && knem_)
    return kByKnem;
  return kByNone;
}

std::optional<ExposureRecord> Exporter::expose(Bytes payload, std::uint64_t cookie) noexcept {
  const CopyWay way = this->way();
  LIVEBTL_ASSERT(way != kByNone && !full(), "the peer reads, and a slot is free");
  KnemRegion region;
  if (way == kByKnem) {
    region = KnemRegion(knem_, payload, *probe_);
    if (region.cookie() == 0) return std::nullopt;
  }
  const auto slot = static_cast<std::uint16_t>(exposed_ % kExposuresMax);
  const std::uint64_t number = ++exposed_;
  ExposureWords& words = words_->exposures[slot];
  const std::uint64_t place = way == kByKnem ? region.cookie() : address_of(payload.data());
  shared(words.place).store(place, std::memory_order_relaxed);
  shared(words.state).store(word_of(number, kOffered), std::memory_order_release);
  exposures_[slot] = {number, cookie, payload, nullptr, way, std::move(region)};
  return ExposureRecord{number, slot, way, static_cast<std::uint32_t>(payload.size())};
}

std::uint64_t Exporter::state_of_oldest() const noexcept {
  const std::size_t slot = returned_ % kExposuresMax;
  const Exposure& exposure = exposures_[slot];
  if (exposure.read) return kRead;
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

// The receiver reads buffers in order, so it has asked for no other one.
void Exporter::share() noexcept {
  const std::size_t slot = returned_ % kExposuresMax;
  Exposure& exposure = exposures_[slot];
  std::memcpy(spare_, exposure.copy != nullptr ? exposure.copy.get() : exposure.payload.data(),
              exposure.payload.size());
  shared(words_->exposures[slot].state)
      .store(word_of(exposure.number, kShared), std::memory_order_release);
  exposure.region.reset();
  shares_ = spoilt_ = true;
}

std::uint64_t Exporter::take_back() noexcept {
  Exposure& exposure = exposures_[returned_++ % kExposuresMax];
  exposure.region.reset();
  exposure.copy.reset();
  shares_ = false;
  return exposure.cookie;
}

// The copy is whole before its address is published, and its address before the word: a reader of
// the old address and the new word, or vice versa, has read good bytes or copies again. The copy is
// kept even if the word has changed meanwhile, above all by a refusal: share() must not look at the
// payload any more. By knem the place is the cookie of the copy's own region; 0, if the kernel
// gives none, is refused. The payload's region ends after the word changes: a reader that then
// fails finds the new word.
void Exporter::move_out() {
  for (std::uint64_t each = returned_; each < exposed_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kExposuresMax);
    Exposure& exposure = exposures_[slot];
    if (exposure.copy != nullptr || (shares_ && each == returned_)) continue;
    if (shared(words_->exposures[slot].state).load(std::memory_order_acquire) ==
        word_of(exposure.number, kRead)) {
      exposure.read = true;  // whatever the peer writes there now, the owner has its payload back
      exposure.region.reset();
      continue;
    }
    auto copy = std::make_unique_for_overwrite<std::byte[]>(exposure.payload.size());
    std::memcpy(copy.get(), exposure.payload.data(), exposure.payload.size());
    KnemRegion region;
    if (exposure.way == kByKnem)
      region = KnemRegion(knem_, {copy.get(), exposure.payload.size()}, *probe_);
    ExposureWords& words = words_->exposures[slot];
    const std::uint64_t place = exposure.way == kByKnem ? region.cookie() : address_of(copy.get());
    shared(words.place).store(place, std::memory_order_release);
    step(words.state, word_of(exposure.number, kOffered), word_of(exposure.number, kMoved));
    exposure.copy = std::move(copy);
    exposure.region = std::move(region);
  }
  if (refused()) share();
}

void Exporter::withdraw() noexcept {
  for (std::uint64_t each = returned_; each < exposed_; ++each) {
    const auto slot = static_cast<std::uint32_t>(each % kExposuresMax);
    // An exchange: either this or the peer's step comes first, and the owner's next writes come
    // after it.
    shared(words_->exposures[slot].state).exchange(kWithdrawn, std::memory_order_seq_cst);
    exposures_[slot].region.reset();
    exposures_[slot].copy.reset();
  }
  returned_ = exposed_;
  words_ = nullptr;
  probe_region_.reset();
}

void RemoteReader::probe() noexcept {
  if (words_ == nullptr) return;
  const std::uint64_t address = shared(words_->probe_address).load(std::memory_order_acquire);
  const std::uint64_t probe = shared(words_->probe).load(std::memory_order_relaxed);
  const std::uint64_t cookie = shared(words_->probe_cookie).load(std::memory_order_relaxed);
  if (address == 0) return;
  if (memory_.knows(address, probe)) readable_ |= kByCma;
  if (knem_.knows(cookie, probe)) readable_ |= kByKnem;
  shared(words_->readable).store(readable_, std::memory_order_release);
}

// An honest peer can change a word twice: moved, then withdrawn.
RemoteReader::Outcome RemoteReader::read(const ExposureRecord& record, MutableBytes into) noexcept {
  LIVEBTL_ASSERT(into.empty() || (into.size() == record.bytes && into.size() <= kExposureBytesMax),
                 "an exposed buffer");
  const bool by_knem = record.way == kByKnem;
  if (words_ == nullptr || record.slot >= kExposuresMax || (!by_knem && record.way != kByCma) ||
      (record.way & readable_) == 0)
    return Outcome::kCorrupt;
  ExposureWords& words = words_->exposures[record.slot];
  if (asked_ != nullptr) return read_shared(words, record.number, into);
  if (forgotten_) return Outcome::kGone;
  for (int tries = 0; tries < 4; ++tries) {
    const std::uint64_t word = shared(words.state).load(std::memory_order_acquire);
    if (word == kWithdrawn) return Outcome::kGone;
    if (word != word_of(record.number, kOffered) && word != word_of(record.number, kMoved))
      return Outcome::kCorrupt;
    const std::uint64_t place = shared(words.place).load(std::memory_order_acquire);
    const bool done =
        into.empty() || (by_knem ? knem_.read(place, into) : memory_.read(place, into));
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
  const bool refused = word == word_of(number, kRefused);
  if (refused && !forgotten_) return Outcome::kAsked;
  if (refused || word == kWithdrawn) {
    asked_ = nullptr;  // nobody will share it
    return Outcome::kGone;
  }
  if (&words != asked_ || word != word_of(number, kShared)) return Outcome::kCorrupt;
  if (!into.empty()) std::memcpy(into.data(), spare_, into.size());
  asked_ = nullptr;
  return step(words.state, word, word_of(number, kRead)) ? Outcome::kDone : Outcome::kGone;
}

bool RemoteReader::asks() const noexcept {
  if (asked_ == nullptr || forgotten_) return false;
  return (shared(asked_->state).load(std::memory_order_acquire) & 7) == kRefused;
}

void RemoteReader::forget_peer() noexcept { forgotten_ = true; }

}  // namespace livebtl::sm
