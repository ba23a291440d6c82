// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/regions.h -- guarded memory of the last rank of a rig, and rank 0's
// accesses to it (its own, if it is alone), one by one or against a model in plain memory.
#pragma once

#include <sys/mman.h>

#include <utility>

#include "base/random.h"
#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

inline std::size_t last_of(const Rig& rig) { return rig.ports.size() - 1; }

/// Memory of the last rank that peers may access, between two pages that nobody may.
class Guarded {
 public:
  Guarded(Rig& rig, std::size_t bytes, Access access = Access::kReadWrite)
      : rig_(rig), bytes_((bytes + kPage - 1) / kPage * kPage) {
    map_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(map_ != MAP_FAILED);
    REQUIRE(::mprotect(map_ + kPage, bytes_, PROT_READ | PROT_WRITE) == 0);
    const auto registered =
        rig.ports.back()->register_region({.base = data(), .bytes = bytes_, .access = access});
    REQUIRE(registered);
    key = *registered;
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() {
    if (key != 0 && rig_.ports.back() != nullptr) rig_.ports.back()->deregister_region(key);
    ::munmap(map_, bytes_ + 2 * kPage);
  }
  std::byte* data() const { return map_ + kPage; }
  std::size_t size() const { return bytes_; }
  /// Deregisters it; from then on whoever touches the memory ends the test.
  void take_back() {
    REQUIRE(rig_.ports.back()->deregister_region(std::exchange(key, 0)));
    REQUIRE(::mprotect(data(), bytes_, PROT_NONE) == 0);
  }

  std::uint64_t key = 0;

 private:
  static constexpr std::size_t kPage = 4096;
  Rig& rig_;
  std::size_t bytes_;
  std::byte* map_ = nullptr;
};

/// Rank 0's accesses, one by one.
struct Origin {
  explicit Origin(Rig& its_rig) : rig(its_rig), to(its_rig.to(0, last_of(its_rig))) {}

  template <class Start>
  Errc finish(Start start) {
    Watched operation;
    Accept answer = Accept::kBusy;
    rig.until([&] { return (answer = start(operation)) != Accept::kBusy; });
    REQUIRE(answer == Accept::kAccepted);
    rig.until([&] { return operation.done_count != 0; });
    CHECK(operation.done_count == 1);
    return operation.completion.code;
  }
  Errc put(Remote remote, const std::vector<std::byte>& bytes) {
    const Slice slice{bytes.data(), bytes.size()};
    return finish([&](Operation& operation) {
      return rig.ports[0]->put({.to = to, .remote = remote, .slices = {&slice, 1}}, operation);
    });
  }
  Errc get(Remote remote, std::vector<std::byte>& into) {
    const MutableSlice slice{into.data(), into.size()};
    return finish([&](Operation& operation) {
      return rig.ports[0]->get({.to = to, .remote = remote, .slices = {&slice, 1}}, operation);
    });
  }
  Errc add(Remote remote, std::uint64_t operand, std::uint64_t& fetched) {
    AtomicRequest request{.to = to, .remote = remote};
    request.operand = &operand;
    request.fetched = &fetched;
    return finish([&](Operation& operation) { return rig.ports[0]->atomic(request, operation); });
  }
  void expect_refused(Remote remote, std::size_t bytes) {
    CHECK(put(remote, pattern(bytes, 9)) == Errc::kBadKey);
    const auto untouched = pattern(bytes, 7);
    auto into = untouched;
    CHECK(get(remote, into) == Errc::kBadKey);
    CHECK(into == untouched);
  }

  Rig& rig;
  Destination to;
};

/// Accesses of rank 0 to slots of the last rank's memory, one under way in each, against a model.
class Storm {
 public:
  static constexpr std::size_t kSlots = 12;
  static constexpr std::size_t kSlotBytes = 600'000;

  Storm(Rig& rig, Guarded& memory, std::uint64_t seed)
      : rig_(rig), memory_(memory), random_(seed), slots_(kSlots) {
    for (Slot& slot : slots_) slot.model.resize(kSlotBytes);
  }
  ~Storm() { rig_.ports[0].reset(); }  // ends what is open before its memory goes

  void step() {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      end(slots_[i]);
      if (!slots_[i].busy && !stopping_) begin(slots_[i], i * kSlotBytes);
    }
  }
  void run(std::uint64_t operations) {
    const std::uint64_t goal = done_ + operations;
    rig_.until([&] {
      step();
      return done_ >= goal;
    });
  }
  void finish() {
    stopping_ = true;
    rig_.until([&] {
      step();
      return std::ranges::none_of(slots_, [](const Slot& slot) { return slot.busy; });
    });
    for (std::size_t i = 0; i < slots_.size(); ++i)
      CHECK(std::memcmp(memory_.data() + i * kSlotBytes, slots_[i].model.data(), kSlotBytes) == 0);
  }

 private:
  enum class Kind { kPut, kGet, kAdd };
  struct Slot {
    bool busy = false;
    Kind kind{};
    std::size_t begin = 0;
    std::vector<std::byte> bytes, model;
    std::uint64_t operand = 0, fetched = 0;
    std::unique_ptr<Watched> operation;
  };

  void begin(Slot& slot, std::size_t at) {
    slot.kind = static_cast<Kind>(random_.below(3));
    const std::size_t most[] = {64, 9000, kSlotBytes};
    const std::size_t length =
        slot.kind == Kind::kAdd ? 8 : 1 + random_.below(most[random_.below(3)]);
    slot.begin = random_.below(kSlotBytes - length + 1);
    if (slot.kind == Kind::kAdd) slot.begin &= ~std::size_t{7};
    slot.bytes = pattern(length, random_.next());
    slot.operation = std::make_unique<Watched>();
    slot.busy = start(slot, {memory_.key, at + slot.begin}) == Accept::kAccepted;
  }

  Accept start(Slot& slot, Remote remote) {
    Port& port = *rig_.ports[0];
    const Destination to = rig_.to(0, last_of(rig_));
    if (slot.kind == Kind::kAdd) {
      AtomicRequest request{.to = to, .remote = remote};
      std::memcpy(&slot.operand, slot.bytes.data(), 8);
      request.operand = &slot.operand;
      request.fetched = &slot.fetched;
      return port.atomic(request, *slot.operation);
    }
    if (slot.kind == Kind::kPut) {
      const Slice slice{slot.bytes.data(), slot.bytes.size()};
      return port.put({.to = to, .remote = remote, .slices = {&slice, 1}}, *slot.operation);
    }
    const MutableSlice slice{slot.bytes.data(), slot.bytes.size()};
    return port.get({.to = to, .remote = remote, .slices = {&slice, 1}}, *slot.operation);
  }

  void end(Slot& slot) {
    if (!slot.busy || slot.operation->done_count == 0) return;
    slot.busy = false;
    ++done_;
    REQUIRE(slot.operation->completion.code == Errc::kOk);
    std::byte* const model = slot.model.data() + slot.begin;
    if (slot.kind == Kind::kPut) {
      std::memcpy(model, slot.bytes.data(), slot.bytes.size());
    } else if (slot.kind == Kind::kGet) {
      REQUIRE(std::memcmp(model, slot.bytes.data(), slot.bytes.size()) == 0);
    } else {
      std::uint64_t word = 0;
      std::memcpy(&word, model, 8);
      REQUIRE(slot.fetched == word);
      word += slot.operand;
      std::memcpy(model, &word, 8);
    }
  }

  Rig& rig_;
  Guarded& memory_;
  Random random_;
  std::vector<Slot> slots_;
  std::uint64_t done_ = 0;
  bool stopping_ = false;
};

}  // namespace livebtl::test
