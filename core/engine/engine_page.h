// SPDX-License-Identifier: BSD-3-Clause
// core/engine/engine_page.h -- what an engine shows of itself in its member's page: counters,
// pairs, losses, hold. Values of fixed size, without pointers: other processes read them
// (control/place/page_reader.h).
//
// Any change here requires a new kPageVersion (control/place/member_page.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/sequence_latch.h"
#include "base/transport_name.h"
#include "transports/interface/endpoint_stats.h"

namespace livebtl::core {

inline constexpr std::size_t kPageTransports = 8;
inline constexpr std::size_t kPagePeers = 64;
inline constexpr std::size_t kPageLosses = 16;
inline constexpr std::uint8_t kNoTransport = 0xff;

/// Text of at most `size` bytes; a shorter one ends with a zero.
template <std::size_t size>
struct PageText {
  std::array<char, size> bytes;

  PageText& operator=(std::string_view text) noexcept {
    const std::size_t used = std::min(text.size(), size);
    bytes.fill('\0');
    // Not std::copy_n(), which GCC 14 at -O2 takes for an overflow.
    if (used > 0) std::memcpy(bytes.data(), text.data(), used);
    return *this;
  }
  std::string_view view() const noexcept {
    const auto end = std::find(bytes.begin(), bytes.end(), '\0');
    return {bytes.data(), static_cast<std::size_t>(end - bytes.begin())};
  }
};

struct TransportPage {
  PageText<kTransportNameMax> name;
  PageText<96> absent;  // why it is not in service; "": it is
  std::uint32_t exclusivity, weight;
  std::uint32_t pairs, bulk_pairs;  // of this process, as in TransportStatus
  std::uint8_t open, excluded, quiesced, own_pair, bound_to_device, unused[3];
  EndpointStats carried;
  std::uint64_t paths_lost, corrupt_frames;
};

struct PeerPage {
  std::uint64_t process;
  PageText<40> label;  // "rank 3 on node17"
  std::uint64_t messages_sent, messages_received;
  std::uint64_t bytes_sent, bytes_received;  // including headers, over all paths
  std::uint64_t kept_bytes;
  std::uint32_t queued;   // frames that wait for credit, for a path, or for the end of a hold
  std::uint32_t awaited;  // posted receives that take messages only from this peer
  std::uint8_t sending, receiving;  // index of the transport, or kNoTransport: as in PeerStatus
  std::uint8_t bulk;                // a bit for each transport
  std::uint8_t lost;
  std::uint32_t generation;
  std::uint32_t untaken;  // sends that the peer knows of, and that no receive has taken
  std::uint8_t out_of_credit, unused[3];  // queued messages wait until the peer receives
};

struct LossPage {
  std::int64_t at_ns;  // of the engine's clock
  std::uint64_t process;
  PageText<kTransportNameMax> transport;  // "": the peer itself is lost
  PageText<96> why;
};

struct HoldPage {
  std::uint64_t id;
  std::uint64_t restored_from;
  std::uint64_t claim;
  std::uint32_t members, incarnation;
  std::int64_t until_ns;  // by the engine's clock, while parking or parked
  std::uint8_t state;     // HoldState
  std::uint8_t claimed, unused[6];
  PageText<96> why;
};

struct EnginePage {
  std::int64_t written_ns;  // of the engine's clock
  std::uint64_t retransmitted_frames, duplicate_frames, reordered_frames;
  std::uint64_t messages_sent, messages_received;  // of all pairs, including those that have ended
  std::uint64_t losses;                            // since the process began
  std::uint32_t peers;                             // that have not ended
  std::uint32_t awaited_from_any;                  // posted receives that accept any sender
  std::uint32_t transports_shown, peers_shown, losses_shown, unused;
  HoldPage hold;
  std::array<TransportPage, kPageTransports> transport;
  std::array<PeerPage, kPagePeers> peer;   // met or awaited; if too many, the most talkative
  std::array<LossPage, kPageLosses> loss;  // the last ones, in no order
};

using EnginePageLatch = SequenceLatch<EnginePage>;

}  // namespace livebtl::core
