// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/sm/words.h -- the words of a segment, as a process that maps it can change them: to
// values that make a difference there, or to anything. One thread.
#pragma once

#include "core/path/fast_box.h"
#include "tests/fuzz/session/input.h"
#include "tests/fuzz/session/member.h"
#include "tests/fuzz/sm/watched.h"

namespace livebtl::fuzz {

class Words {
 public:
  /// member: supplies numbers worth trying. lent: a readable address. cookie: of a readable region.
  Words(Member& member, const void* lent, std::uint64_t cookie)
      : member_(member), lent_(reinterpret_cast<std::uintptr_t>(lent)), cookie_(cookie) {}

  /// From here on the words of that segment, which is new.
  void begin(sm::Segment& segment) {
    segment_ = &segment;
    base_ = reinterpret_cast<std::byte*>(&segment.exposures(0)) - 2 * sizeof(sm::RingWords);
    spoilt_ = false;
  }
  /// What the engine has written may have been overwritten.
  bool spoilt() const noexcept { return spoilt_; }

  template <class Word>
  void put(Word& at, std::type_identity_t<Word> value) {
    put(reinterpret_cast<std::byte*>(&at), value);
  }
  template <class Word>
  void put(std::byte* at, Word value) {
    const auto offset = static_cast<std::size_t>(at - base_);
    if (offset > kSegmentBytes - sizeof value) return;
    const bool data =
        offset + sizeof value > kDataAt + kRingBytes && offset < kDataAt + 2 * kRingBytes;
    const bool head = offset + sizeof value > kHeadAt && offset < kHeadAt + sizeof(std::uint64_t);
    spoilt_ = spoilt_ || data || head;
    std::memcpy(at, &value, sizeof value);
  }
  void write_into_box(Input& input, bool good) {
    const std::uint64_t seq = member_.next_seq() + (good ? 0 : input.below(4));
    core::BoxSlot& slot = segment_->box(good ? 0 : input.below(4) / 3).slots[seq % core::kBoxSlots];
    put(slot.tag, input.below(4));
    put(slot.data, number(input));
    const auto bytes =
        static_cast<std::uint8_t>(input.below(good ? core::kBoxInlineBytes + 1 : 64));
    const auto flags = static_cast<std::uint8_t>(input.below(good ? 4 : 16));
    const auto port = static_cast<PortNumber>(good ? member_.target : number(input));
    put(slot.word, core::box_word(seq, bytes, flags, Member::kPort, port % core::kBoxPortsEnd));
    if (good) member_.count_sent();
  }
  /// Changes some word of the memory.
  void scribble(Input& input) {
    if (base_ == nullptr) return;
    switch (input.below(12)) {
      case 0:
        return put(next_record(), commit_word(input));
      case 1:
        return put(next_record() + 8 * (1 + input.below(9)), number(input));
      case 2:
        return put(next_record() + input.number(2), number(input));
      case 3:
        return move(words(1).head, input);
      case 4:
        return put(words(input.below(2)).sleeping, static_cast<std::uint32_t>(number(input)));
      case 5:
        return put(words(1).taken, member_.next_expected() - input.below(4) + input.below(4));
      case 6:
        return write_into_box(input, false);
      case 7:
      case 8:
        return change_exposure(1, input);
      case 9:
        return change_exposure(0, input);
      case 10:
        return move(words(input.below(2)).taken, input);
      default:
        return put(base_ + input.number(3) % (kSegmentBytes - 8), number(input));
    }
  }

 private:
  static constexpr std::size_t kHeadAt =
      sizeof(sm::RingWords);  // of the ring that the engine writes
  static constexpr std::size_t kSegmentBytes =
      kDataAt + 2 * (kRingBytes + sm::kExposureBytesMax + core::kBoxSlots * sizeof(core::BoxSlot));

  sm::RingWords& words(std::size_t ring) {
    return *reinterpret_cast<sm::RingWords*>(base_ + ring * sizeof(sm::RingWords));
  }
  /// Where the engine's reader stands, by its own account.
  std::byte* next_record() { return base_ + kDataAt + words(0).head % kRingBytes; }
  /// Back or forth by a step that makes a difference, or anywhere.
  void move(std::uint64_t& at, Input& input) {
    constexpr std::uint64_t kSteps[] = {1, 8, 64, 128, kRingBytes - 64, kRingBytes, 2 * kRingBytes};
    const std::uint8_t how = input.byte();
    const std::uint64_t step = kSteps[how / 4 % std::size(kSteps)];
    put(at, how % 4 == 0 ? at + step : how % 4 == 1 ? at - step : how % 4 == 2 ? 0 : number(input));
  }
  static std::uint64_t commit_word(Input& input) {
    constexpr std::size_t kHeaders[] = {24, 40, 24, 40, 56, 64, 1, 0, 65, 255};
    constexpr std::size_t kPayloads[] = {0,    8,     16,    64,    1000,       8192,
                                         2048, 16384, 16385, 65536, 0xffff'ffff};
    const std::uint8_t how = input.byte();
    if (how >= 240) return input.number(8);
    if (how >= 224) return sm::commit_word(sm::RecordKind::kSkip, 0, 64 * input.number(2));
    const std::size_t header = kHeaders[input.below(std::size(kHeaders))];
    const std::size_t payload = kPayloads[input.below(std::size(kPayloads))];
    return sm::commit_word(static_cast<sm::RecordKind>(how % 5), header, payload) |
           std::uint64_t{how >= 200} << 48U;
  }
  void change_exposure(std::size_t ring, Input& input) {
    sm::ZeroCopyWords& words = segment_->exposures(ring);
    sm::ExposureWords& its = words.exposures[input.below(sm::kExposuresMax)];
    switch (input.below(8)) {
      case 0:
        return put(words.readable, input.below(8));
      case 1:
        return put(input.below(2) == 0 ? words.probe_address : words.probe_cookie, number(input));
      case 2:
        return put(its.place, number(input));
      case 3:
        return put(its.state, number(input));
      default:  // a step of that exposure, or of one near it
        return put(its.state,
                   (its.state & ~std::uint64_t{7}) + 8 * (input.below(8) / 7) + input.below(8));
    }
  }
  std::uint64_t number(Input& input) const {
    constexpr std::uint64_t kNotable[] = {0, 1, 2, 8, 63, 64, 4096, 16384, 65536, 1 << 20, ~0ULL};
    const std::uint8_t how = input.byte();
    if (how < 128) return kNotable[how % std::size(kNotable)];
    if (how < 138) return lent_;
    if (how < 144) return cookie_;
    if (how < 192) return member_.next_seq() + how % 8;
    if (how < 240) return member_.next_expected() + how % 8;
    return input.number(8);
  }

  Member& member_;
  const std::uintptr_t lent_;
  const std::uint64_t cookie_;
  sm::Segment* segment_ = nullptr;
  std::byte* base_ = nullptr;
  bool spoilt_ = false;
};

}  // namespace livebtl::fuzz
