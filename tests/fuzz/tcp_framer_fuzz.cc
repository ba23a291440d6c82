// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/tcp_framer_fuzz.cc -- any bytes, in reads of any size, against the tcp framer. Each
// piece of the input is fed as is or with matching checksums, so that the code behind the checks is
// reached as well.
//
// Input: 1 byte of options, then records: 1 byte kind, 2 bytes count, bytes.
#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"
#include "tests/fuzz/reached.h"
#include "transports/tcp/tcp_framer.h"
#include "transports/tcp/tcp_shared.h"

namespace livebtl::tcp {
namespace {

class Sink final : public core::EndpointSink {
 public:
  explicit Sink(bool places) : places_(places) {}

  MutableBytes on_place(Bytes header, std::size_t payload_bytes, bool) noexcept override {
    LIVEBTL_ASSERT(!header.empty() && payload_bytes <= kPayloadBytesMax, "the head was checked");
    static Blob place(kPayloadBytesMax);
    return places_ && payload_bytes % 3 != 0 ? MutableBytes(place) : MutableBytes{};
  }
  void on_frame(Bytes header, Bytes payload) noexcept override {
    LIVEBTL_ASSERT(!header.empty() && header.size() <= core::kHeaderBytesMax,
                   "the header has a length");
    LIVEBTL_ASSERT(payload.size() <= kPayloadBytesMax, "the payload keeps to the limit");
    fuzz::Reached::note(true);
    sum_ = crc32c(payload, crc32c(header, sum_));  // every byte is readable
  }
  void on_sent(std::uint64_t) noexcept override {}
  void on_down(const Error&) noexcept override {}

 private:
  bool places_;
  std::uint32_t sum_ = 0;
};

enum Kind : std::uint8_t { kRaw, kFrame, kHead, kKinds };

/// The bytes on the wire for one record.
Blob wire_bytes(std::uint8_t kind, Bytes bytes) {
  if (kind == kRaw || bytes.empty()) return Blob(bytes.begin(), bytes.end());
  const std::size_t header_bytes =
      std::min<std::size_t>(1 + std::to_integer<std::size_t>(bytes[0]) % 64, bytes.size());
  Head head;
  encode_head({bytes.first(header_bytes), bytes.subspan(header_bytes), 0, false},
              bytes.size() % 2 == 0, head);
  if (kind == kHead && bytes.size() >= 12) {  // arbitrary fields with a valid checksum
    std::memcpy(head.raw.data() + 4, bytes.data(), 12);
    const std::uint32_t crc = crc32c(head.view().subspan(4));
    std::memcpy(head.raw.data(), &crc, sizeof(crc));
  }
  Blob wire(head.view().begin(), head.view().end());
  wire.insert(wire.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes), bytes.end());
  return wire;
}

/// One block serves all inputs, as it serves all connections: making it is the costliest part.
Pool<InBlock>& blocks() {
  static Pool<InBlock> pool;
  return pool;
}

/// false: the stream has ended.
bool feed(Framer& framer, Sink& sink, Bytes bytes, std::size_t read_bytes_max, std::size_t budget) {
  while (!bytes.empty()) {
    if (!framer.has_block()) framer.lend(blocks().take());
    std::size_t rest = std::min(read_bytes_max, bytes.size());
    std::size_t read = 0;
    for (const MutableBytes piece : framer.room()) {
      const std::size_t count = std::min(rest, piece.size());
      std::copy_n(bytes.begin(), count, piece.begin());
      bytes = bytes.subspan(count);
      rest -= count;
      read += count;
    }
    LIVEBTL_ASSERT(read > 0, "there is always room for more");
    framer.filled(read);
    std::size_t frames = 0;
    Framer::Stop stop = Framer::Stop::kBudget;
    while (stop == Framer::Stop::kBudget) stop = framer.parse(sink, budget, frames);
    if (stop == Framer::Stop::kCorrupt) {
      fuzz::Reached::note(false);
      return false;
    }
    blocks().put(framer.give_back());
  }
  return true;
}

void run(Bytes input) {
  ByteReader reader(input);
  const auto options = reader.take<std::uint8_t>();
  Sink sink((options & 1) != 0);
  Framer framer((options & 2) != 0 ? core::kUntrustedPayloadMax : kPayloadBytesMax);
  const std::size_t read_bytes_max = std::size_t{1} << ((options >> 2) & 15);
  const std::size_t budget = (options & 64) != 0 ? 1 : 1000;
  while (reader.ok() && !reader.rest().empty()) {
    const auto kind = static_cast<std::uint8_t>(reader.take<std::uint8_t>() % kKinds);
    const std::size_t count = reader.take<std::uint16_t>();
    const Bytes bytes = reader.take_bytes(std::min(count, reader.rest().size()));
    if (!feed(framer, sink, wire_bytes(kind, bytes), read_bytes_max, budget)) break;
  }
  blocks().put(framer.drop());
}

}  // namespace
}  // namespace livebtl::tcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  livebtl::tcp::run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
