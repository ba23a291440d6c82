// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/zero_copy_kit.h -- both sides of zero-copy reads over sm, in one process.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include "transports/sm/sm_zero_copy.h"

namespace livebtl::sm {

using Outcome = RemoteReader::Outcome;

inline constexpr std::size_t kBytes = 100'000;

/// Both sides in this process.
struct Pair {
  Pair() : reader(words, spare.data(), PeerMemory(::getpid())) { reader.probe(); }
  Outcome read(const ExposureRecord& record) {
    place.assign(record.bytes, std::byte{0});
    return reader.read(record, place);
  }
  ZeroCopyWords words;
  Blob spare = Blob(kExposureBytesMax);
  Exporter exporter{words, spare.data()};
  RemoteReader reader;
  Blob place;
};

inline Blob filled(int value, std::size_t bytes = kBytes) {
  return Blob(bytes, static_cast<std::byte>(value));
}

}  // namespace livebtl::sm
