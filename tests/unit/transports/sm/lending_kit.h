// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/lending_kit.h -- both sides of what is lent over sm, in one process.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include "transports/sm/sm_lending.h"

namespace livebtl::sm {

using Outcome = Fetcher::Outcome;

inline constexpr std::size_t kBytes = 100'000;

/// Both sides in this process.
struct Pair {
  Pair() : fetcher(words, spare.data(), PeerMemory(::getpid())) { fetcher.probe(); }
  Outcome fetch(const LoanRecord& record) {
    place.assign(record.bytes, std::byte{0});
    return fetcher.fetch(record, place);
  }
  LendingWords words;
  Blob spare = Blob(kLoanBytesMax);
  Lender lender{words, spare.data()};
  Fetcher fetcher;
  Blob place;
};

inline Blob filled(int value, std::size_t bytes = kBytes) {
  return Blob(bytes, static_cast<std::byte>(value));
}

}  // namespace livebtl::sm
