// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/messages/exposed_test.cc -- an exposed buffer is described, and read in
// steps.
#include "transports/messages/exposed.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::messages;

namespace {

struct Remote {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;
  std::uint32_t crc = 0;
};

}  // namespace

TEST_CASE("a described buffer comes back, with a checksum if one is wanted") {
  const Blob memory(kExposedBytesMin, std::byte{7});
  for (const bool with_crc : {true, false}) {
    const auto remote = describe_exposed<Remote>(0x1000, 5, memory, with_crc);
    const auto back = decode_exposed<Remote>(bytes_of(remote));
    REQUIRE(back.has_value());
    CHECK(std::memcmp(&*back, &remote, sizeof remote) == 0);
    Blob changed = memory;
    changed.back() = std::byte{8};
    const ReadProgress<Remote> read(Bytes(memory).first(8), *back);
    CHECK(read.is_intact(memory));
    CHECK(read.is_intact(changed) != with_crc);
    CHECK(read.header().size() == 8);
  }
}

TEST_CASE("a read goes on from step to step") {
  const Blob header(3, std::byte{1});
  ReadProgress<Remote> read(header, {0x1000, 5, 100, 0, 0});
  CHECK(!read.under_way());
  read.begin_step(60);
  CHECK(read.under_way());
  CHECK(!read.end_step());
  CHECK(read.done() == 60);
  CHECK(read.next_address() == 0x1000 + 60);
  read.begin_step(40);
  read.fail_step();  // nothing arrived
  CHECK(!read.under_way());
  CHECK(read.left() == 40);
  read.begin_step(40);
  CHECK(read.end_step());
  CHECK(read.left() == 0);
}
