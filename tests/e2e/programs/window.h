// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/window.h -- an MPI window of any flavour, over words that are initially zero;
// for the programs `onesided` and `windows`. Made and freed collectively.
#pragma once

#include <algorithm>

#include "proof.h"

namespace e2e {

using Word = std::int64_t;
/// Memory for a window, and afterwards for something else.
using Words = std::vector<Word>;

enum class Flavour { kCreate, kAllocate, kDynamic };
inline constexpr Flavour kFlavours[] = {Flavour::kCreate, Flavour::kAllocate, Flavour::kDynamic};

class Window {
 public:
  /// own: its memory, as long as the window, for flavours whose memory is the user's. unit: of
  /// displacements, in bytes; 1 for a dynamic window.
  Window(const Proof& proof, Flavour flavour, Words& own, std::size_t unit = 1)
      : proof_(proof),
        unit_(flavour == Flavour::kDynamic ? 1 : unit),
        is_attached_(flavour == Flavour::kDynamic),
        words_(own.data()),
        displacements_(static_cast<std::size_t>(proof.size()), 0) {
    const auto bytes = static_cast<MPI_Aint>(own.size() * sizeof(Word));
    if (flavour == Flavour::kAllocate) {
      MPI_Win_allocate(bytes, static_cast<int>(unit_), MPI_INFO_NULL, MPI_COMM_WORLD, &words_,
                       &win_);
    } else if (flavour == Flavour::kCreate) {
      MPI_Win_create(words_, bytes, static_cast<int>(unit_), MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    } else {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
      MPI_Win_attach(win_, words_, bytes);
    }
    in_own([&] { std::fill_n(words_, own.size(), 0); });
    MPI_Aint at = 0;
    if (is_attached_) MPI_Get_address(words_, &at);
    MPI_Allgather(&at, 1, MPI_AINT, displacements_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }
  ~Window() {
    if (is_attached_) MPI_Win_detach(win_, words_);
    MPI_Win_free(&win_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win win() const { return win_; }
  Word* words() const { return words_; }
  MPI_Aint at(int rank, std::size_t word) const {
    return displacements_[static_cast<std::size_t>(rank)] +
           static_cast<MPI_Aint>(word * sizeof(Word) / unit_);
  }
  /// Reads or writes this rank's own memory while nobody else does.
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
  const Proof& proof_;
  const std::size_t unit_;
  const bool is_attached_;
  MPI_Win win_ = MPI_WIN_NULL;
  Word* words_ = nullptr;
  std::vector<MPI_Aint> displacements_;  // by rank
};

}  // namespace e2e
