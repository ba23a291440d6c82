// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/windows.cc -- windows of every flavour are made, used and freed again and
// again, and their memory is at once used for other things; and a target computes without an MPI
// call while others work on its window. Passive target throughout. Counts as messages: one per put
// or addition.
#include <algorithm>
#include <atomic>

#include "window.h"

namespace {

using e2e::Flavour;
using e2e::Proof;
using e2e::Window;
using e2e::Word;
using e2e::Words;

constexpr std::size_t kWords = 20'000;  // in a window; the first is a counter
constexpr Word kAdditions = 20;

/// In each round.
constexpr std::uint64_t kWindows = 4, kOfTheComputing = 3;
constexpr std::uint64_t window_of(Flavour flavour) { return static_cast<std::uint64_t>(flavour); }

/// Differs between any two windows.
Words content(const Proof& proof, std::uint64_t window, int origin, std::size_t count) {
  Words words(count);
  const std::uint64_t name = proof.round() * kWindows + window;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] =
        static_cast<Word>(e2e::mix((name << 32) ^ (i << 8) ^ static_cast<std::uint64_t>(origin)));
  return words;
}

/// alone: no other rank counts there.
void count(Proof& proof, const Window& window, int target, bool alone) {
  const Word one = 1;
  Word last = -1;
  for (Word i = 0; i < kAdditions; ++i) {
    Word before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, window.at(target, 0), MPI_SUM,
                     window.win());
    MPI_Win_flush(target, window.win());
    proof.expect(alone ? before == i : before > last, "an addition found what cannot be");
    last = before;
    proof.note_sent(sizeof one);
  }
}

void check_count(Proof& proof, const Window& window, Word counted) {
  window.in_own([&] { proof.expect(window.words()[0] == counted, "a count is wrong"); });
  for (Word i = 0; i < counted; ++i) proof.note_received(sizeof(Word));
}

/// Everyone fills its right neighbour's window, and counts there.
void make_use_free(Proof& proof, Flavour flavour, Words& own) {
  const Window window(proof, flavour, own);
  const int right = (proof.rank() + 1) % proof.size();
  const int left = (proof.rank() + proof.size() - 1) % proof.size();
  const Words mine = content(proof, window_of(flavour), proof.rank(), kWords - 1);
  const Words theirs = content(proof, window_of(flavour), left, kWords - 1);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window.win());
  MPI_Put(mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, right, window.at(right, 1),
          static_cast<int>(mine.size()), MPI_INT64_T, window.win());
  proof.note_sent(mine.size() * sizeof(Word));
  count(proof, window, right, true);
  MPI_Win_unlock(right, window.win());
  MPI_Barrier(MPI_COMM_WORLD);
  check_count(proof, window, kAdditions);
  window.in_own([&] {
    if (!std::equal(theirs.begin(), theirs.end(), window.words() + 1))
      proof.error(Proof::Fault::kCorrupt, "a window does not hold what was put there");
  });
  proof.note_received(theirs.size() * sizeof(Word));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// One origin's share of the window of a target that computes.
struct Share {
  Share(const Proof& proof, int origin)
      : words((kWords - 1) / static_cast<std::size_t>(proof.size())),
        begin(1 + static_cast<std::size_t>(origin) * words) {}
  std::size_t words, begin;
};

/// Fills its share, and reads it back.
void put_and_get(Proof& proof, const Window& window, int target) {
  const Share share(proof, proof.rank());
  const Words mine = content(proof, kOfTheComputing, proof.rank(), share.words);
  Words back(share.words);
  const int count = static_cast<int>(share.words);
  const MPI_Aint at = window.at(target, share.begin);
  MPI_Put(mine.data(), count, MPI_INT64_T, target, at, count, MPI_INT64_T, window.win());
  MPI_Win_flush(target, window.win());
  MPI_Get(back.data(), count, MPI_INT64_T, target, at, count, MPI_INT64_T, window.win());
  MPI_Win_flush(target, window.win());
  proof.note_sent(share.words * sizeof(Word));
  if (back != mine)
    proof.error(Proof::Fault::kCorrupt, "a get from who computes brought what was not put there");
}

void check_share(Proof& proof, const Window& window, int origin) {
  const Share share(proof, origin);
  const Words theirs = content(proof, kOfTheComputing, origin, share.words);
  window.in_own([&] {
    if (!std::equal(theirs.begin(), theirs.end(), window.words() + share.begin))
      proof.error(Proof::Fault::kCorrupt, "a put to who computes has not brought what it said");
  });
  proof.note_received(share.words * sizeof(Word));
}

/// One rank only reads its own memory until all others have put, got and counted there.
void target_computes(Proof& proof, Words& own) {
  const Window window(proof, Flavour::kCreate, own);
  proof.expect(window.is_unified(), "memory of a window is not seen by loads");
  const int target = static_cast<int>(proof.round() % static_cast<std::uint64_t>(proof.size()));
  const Word counted = kAdditions * (proof.size() - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (proof.rank() == target) {
    const std::atomic_ref<Word> counter(window.words()[0]);
    while (counter.load(std::memory_order_acquire) < counted) {
    }
  } else {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win());
    put_and_get(proof, window, target);
    count(proof, window, target, false);
    MPI_Win_unlock(target, window.win());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (proof.rank() == target) {
    check_count(proof, window, counted);
    for (int origin = 0; origin < proof.size(); ++origin) {
      if (origin != target) check_share(proof, window, origin);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Uses a window's former memory for something else; late writes to it are detected when the next
/// window has ended.
void use_otherwise(Words& own) { std::fill(own.begin(), own.end(), Word{-1}); }
void check_untouched(Proof& proof, const Words& own) {
  proof.expect(std::all_of(own.begin(), own.end(), [](Word word) { return word == -1; }),
               "memory was written to after its window had gone");
}

void round(Proof& proof, Words& own, Words& before) {
  for (const Flavour flavour : e2e::kFlavours) {
    make_use_free(proof, flavour, own);
    check_untouched(proof, before);
    use_otherwise(own);
    std::swap(own, before);
  }
  target_computes(proof, own);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    Proof proof(argc, argv, "windows");
    Words own(kWords), before(kWords, -1);
    while (proof.next_round()) round(proof, own, before);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
