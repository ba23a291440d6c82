// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/zero_copy_kit.h -- both sides of zero-copy reads over sm, in one process.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include "transports/sm/sm_zero_copy.h"

namespace livebtl::sm {

using Outcome = RemoteReader::Outcome;

inline constexpr std::size_t kBytes = 100'000;

/// knem: on both sides; absent: they have only cma.
struct Pair {
  explicit Pair(KnemDevice knem = {}, SingleCopy way = SingleCopy::kAuto,
                PeerMemory memory = PeerMemory(::getpid()))
      : device(std::move(knem)), reader(words, spare.data(), memory, KnemPeer(device)) {
    exporter.copy_by(way);
    reader.probe();
  }
  ExposureRecord expose(Bytes payload, std::uint64_t cookie) {
    const auto record = exporter.expose(payload, cookie);
    REQUIRE(record.has_value());
    return *record;
  }
  Outcome read(const ExposureRecord& record) {
    place.assign(record.bytes, std::byte{0});
    return reader.read(record, place);
  }
  const KnemDevice device;
  ZeroCopyWords words;
  Blob spare = Blob(kExposureBytesMax);
  Exporter exporter{words, spare.data(), device};
  RemoteReader reader;
  Blob place;
};

inline Blob filled(int value, std::size_t bytes = kBytes) {
  return Blob(bytes, static_cast<std::byte>(value));
}

}  // namespace livebtl::sm
