// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/regions_parts.cc -- see regions.h.
#include <algorithm>
#include <cstring>

#include "regions.h"

namespace e2e {

Step::Step() {
  done = [](livebtl::Operation& operation, const livebtl::Completion& how) noexcept {
    auto& self = static_cast<Step&>(operation);
    self.code = how.code;
    self.over.store(true, std::memory_order_release);
  };
}

bool Step::take_end(Proof& proof) {
  if (!std::exchange(begun, false)) return false;
  proof.expect(code == livebtl::Errc::kOk, "an operation failed");
  return true;
}

int Reach::other_rank() {
  const auto others = static_cast<std::uint64_t>(proof.size() - 1);
  return (proof.rank() + 1 + static_cast<int>(chance.below(others))) % proof.size();
}

// Adders
// -------------------------------------------------------------------------------------------------

void Adders::begin_round(const std::byte* counters, std::uint64_t adds) {
  std::memcpy(before_, counters, kBytes);
  drawn_ = drawn_sum_ = drawn_squares_ = 0;
  left_ = adds;
}

bool Adders::move() {
  bool busy = false;
  for (Adder& adder : all_) {
    if (adder.step.idle()) {
      end(adder);
      if (left_ != 0) begin(adder);
    }
    busy |= adder.step.begun;
  }
  const auto in_flight = std::count_if(all_.begin(), all_.end(),
                                       [](const Adder& adder) { return !adder.step.idle(); });
  if (left_ != 0) {
    in_flight_sum_ += static_cast<std::uint64_t>(in_flight);
    ++in_flight_looks_;
  }
  return busy;
}

void Adders::begin(Adder& adder) {
  --left_;
  const int target = reach_.other_rank();
  adder.draws = reach_.chance.below(2) == 0;
  const std::uint64_t counter = adder.draws ? 0 : 1 + reach_.chance.below(kCounters - 1);
  const std::uint64_t operand = adder.draws ? 1 : reach_.chance.next();
  if (!adder.draws) added_ += operand;
  livebtl::AtomicRequest request;
  request.to = reach_.at(target);
  request.remote = {reach_.key(target), counter * 8};
  request.operand = &operand;
  request.fetched = &adder.found;
  reach_.begin(adder.step, [&] { return reach_.port.atomic(request, adder.step); });
  reach_.proof.note_sent(8);
  ++adds_;
}

void Adders::end(Adder& adder) {
  if (!adder.step.take_end(reach_.proof)) return;
  reach_.proof.note_received(8);
  if (!adder.draws) return;
  ++drawn_;
  drawn_sum_ += adder.found;
  drawn_squares_ += adder.found * adder.found;
}

// Over the whole job, in words that wrap: the first counters gave out the numbers from `before_`
// on, once each.
void Adders::check(const std::byte* counters) {
  std::uint64_t now[kCounters];
  std::memcpy(now, counters, kBytes);
  std::uint64_t given = now[0] - before_[0], sum = 0, squares = 0, grown = 0;
  if (given > kGivenMax) {
    reach_.proof.error(Proof::Fault::kCorrupt, "a counter was overwritten");
    given = 0;
  }
  for (std::uint64_t number = before_[0]; number != before_[0] + given; ++number) {
    sum += number;
    squares += number * number;
  }
  for (std::size_t i = 1; i < kCounters; ++i) grown += now[i] - before_[i];
  const std::uint64_t mine[] = {given - drawn_, sum - drawn_sum_, squares - drawn_squares_,
                                grown - std::exchange(added_, 0)};
  std::uint64_t all[4] = {};
  MPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  Proof& proof = reach_.proof;
  if (proof.rank() != 0) return;
  if (all[0] != 0) proof.error(Proof::Fault::kLost, "fetch-and-adds are not all counted");
  if (all[1] != 0 || all[2] != 0)
    proof.error(Proof::Fault::kRepeated, "numbers were not given once each");
  if (all[3] != 0)
    proof.error(Proof::Fault::kWrong, "the counters are not the sum of what was added");
}

// Writers
// -------------------------------------------------------------------------------------------------

Writers::Writers(Reach& reach, std::size_t slot_bytes, std::size_t base)
    : reach_(reach), slot_bytes_(slot_bytes), base_(base), all_(kSlots) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    all_[i].index = i;
    all_[i].buffer.resize(slot_bytes_);
    all_[i].model.assign(static_cast<std::size_t>(reach.proof.size()),
                         std::vector<std::byte>(slot_bytes_));
  }
}

bool Writers::move() {
  bool busy = false;
  for (Writer& writer : all_) {
    if (writer.step.idle()) {
      end(writer);
      if (left_ != 0) begin(writer);
    }
    busy |= writer.step.begun;
  }
  return busy;
}

void Writers::begin(Writer& writer) {
  --left_;
  Chance& chance = reach_.chance;
  writer.target = reach_.other_rank();
  writer.gets = chance.below(2) == 0;
  const std::size_t most[] = {64, 8192, slot_bytes_};
  writer.length = 1 + chance.below(std::min(most[chance.below(3)], slot_bytes_));
  writer.begin = chance.below(slot_bytes_ - writer.length + 1);
  const std::size_t slot = static_cast<std::size_t>(reach_.proof.rank()) * kSlots + writer.index;
  const livebtl::Remote remote{reach_.key(writer.target),
                               base_ + slot * slot_bytes_ + writer.begin};
  writer.gets ? get(writer, remote) : put(writer, remote);
  reach_.proof.note_sent(writer.length);
}

void Writers::get(Writer& writer, livebtl::Remote remote) {
  std::fill_n(writer.buffer.begin(), writer.length, std::byte{0xEE});
  const livebtl::MutableSlice slice{writer.buffer.data(), writer.length};
  reach_.begin(writer.step, [&] {
    return reach_.port.get(
        {.to = reach_.at(writer.target), .remote = remote, .slices = {&slice, 1}}, writer.step);
  });
}

void Writers::put(Writer& writer, livebtl::Remote remote) {
  const std::uint64_t seed = reach_.chance.next();
  for (std::size_t i = 0; i < writer.length; ++i)
    writer.buffer[i] = static_cast<std::byte>(mix(seed + i / 8) >> (i % 8 * 8));
  const livebtl::Slice slice{writer.buffer.data(), writer.length};
  reach_.begin(writer.step, [&] {
    return reach_.port.put(
        {.to = reach_.at(writer.target), .remote = remote, .slices = {&slice, 1}}, writer.step);
  });
}

void Writers::end(Writer& writer) {
  if (!writer.step.take_end(reach_.proof)) return;
  reach_.proof.note_received(writer.length);
  std::byte* const model =
      writer.model[static_cast<std::size_t>(writer.target)].data() + writer.begin;
  if (!writer.gets) {
    std::memcpy(model, writer.buffer.data(), writer.length);
  } else if (std::memcmp(model, writer.buffer.data(), writer.length) != 0) {
    reach_.proof.error(Proof::Fault::kCorrupt, "a get brought what was not put there last");
  }
}

}  // namespace e2e
