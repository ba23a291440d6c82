// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/windows.cc -- windows of every flavour are made, used and freed again and
// again, and their memory is used for other things at once; and a target computes without an MPI
// call while others work on its window. Passive target throughout. Counts as messages: one a put or
// an addition.
#include <algorithm>
#include <atomic>

#include "proof.h"

namespace {

using e2e::Proof;
using Word = std::int64_t;

constexpr std::size_t kWords = 20'000;  // in a window; the first is a counter
constexpr Word kAdditions = 20;

enum class Flavour { kCreate, kAllocate, kDynamic };

/// Memory for a window, and for something else after it.
using Words = std::vector<Word>;

class Window {
 public:
  /// own: kWords, for the flavours whose memory is the user's.
  Window(Proof& proof, Flavour flavour, Words& own)
      : proof_(proof), displacements_(static_cast<std::size_t>(proof.size()), 0) {
    constexpr MPI_Aint kBytes = kWords * sizeof(Word);
    words_ = own.data();
    if (flavour == Flavour::kAllocate) {
      MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &words_, &win_);
    } else if (flavour == Flavour::kCreate) {
      MPI_Win_create(words_, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    } else {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
      MPI_Win_attach(win_, words_, kBytes);
      attached_ = true;
    }
    in_own([&] { std::fill(words_, words_ + kWords, 0); });
    MPI_Aint at = 0;
    if (attached_) MPI_Get_address(words_, &at);
    MPI_Allgather(&at, 1, MPI_AINT, displacements_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }
  ~Window() {
    if (attached_) MPI_Win_detach(win_, words_);
    MPI_Win_free(&win_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win win() const { return win_; }
  Word* words() const { return words_; }
  MPI_Aint at(int rank, std::size_t word) const {
    return displacements_[static_cast<std::size_t>(rank)] +
           static_cast<MPI_Aint>(word * sizeof(Word));
  }
  /// Looks at or writes this rank's own memory while nobody else does.
  template <class Access>
  void in_own(Access access) const {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, proof_.rank(), 0, win_);
    access();
    MPI_Win_unlock(proof_.rank(), win_);
  }
  bool is_unified() const {
    int* model = nullptr;
    int there = 0;
    MPI_Win_get_attr(win_, MPI_WIN_MODEL, &model, &there);
    return there != 0 && *model == MPI_WIN_UNIFIED;
  }

 private:
  Proof& proof_;
  MPI_Win win_ = MPI_WIN_NULL;
  Word* words_ = nullptr;
  bool attached_ = false;
  std::vector<MPI_Aint> displacements_;  // by rank
};

/// No two windows have the same.
Words content(const Proof& proof, Flavour flavour, int origin) {
  Words words(kWords - 1);
  const std::uint64_t window = proof.round() * 4 + static_cast<std::uint64_t>(flavour);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] =
        static_cast<Word>(e2e::mix((window << 32) ^ (i << 8) ^ static_cast<std::uint64_t>(origin)));
  return words;
}

/// alone: nobody else counts there.
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

/// Everyone writes its right neighbour's window full, and counts there.
void make_use_free(Proof& proof, Flavour flavour, Words& own) {
  const Window window(proof, flavour, own);
  const int right = (proof.rank() + 1) % proof.size();
  const int left = (proof.rank() + proof.size() - 1) % proof.size();
  const Words mine = content(proof, flavour, proof.rank()), theirs = content(proof, flavour, left);
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

/// One rank looks at its own memory alone until all others have counted there.
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
    count(proof, window, target, false);
    MPI_Win_unlock(target, window.win());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (proof.rank() == target) check_count(proof, window, counted);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// What a window left is used for something else, and whoever still writes there is found out when
/// the next window is over.
void use_otherwise(Words& own) { std::fill(own.begin(), own.end(), Word{-1}); }
void check_untouched(Proof& proof, const Words& own) {
  proof.expect(std::all_of(own.begin(), own.end(), [](Word word) { return word == -1; }),
               "memory was written to after its window had gone");
}

void round(Proof& proof, Words& own, Words& before) {
  for (const Flavour flavour : {Flavour::kCreate, Flavour::kAllocate, Flavour::kDynamic}) {
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
