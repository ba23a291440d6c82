// SPDX-License-Identifier: BSD-3-Clause
// transports/interface/endpoint_stats.h -- what one endpoint, or several together, have carried.
// Values only.
#pragma once

#include <cstdint>

namespace livebtl::core {

struct EndpointStats {
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t bytes_sent = 0;  // header and payload
  std::uint64_t bytes_received = 0;
  // Zero-copy reads: frames that were exposed to the peer, and those read out of its memory.
  std::uint64_t frames_exposed = 0;
  std::uint64_t frames_read_remotely = 0;
  // Of such payloads, those whose memory the device could not register.
  std::uint64_t registrations_refused = 0;

  void count_sent(std::size_t bytes) noexcept {
    ++frames_sent;
    bytes_sent += bytes;
  }
  void count_received(std::size_t bytes) noexcept {
    ++frames_received;
    bytes_received += bytes;
  }

  EndpointStats& operator+=(const EndpointStats& more) noexcept {
    frames_sent += more.frames_sent;
    frames_received += more.frames_received;
    bytes_sent += more.bytes_sent;
    bytes_received += more.bytes_received;
    frames_exposed += more.frames_exposed;
    frames_read_remotely += more.frames_read_remotely;
    registrations_refused += more.registrations_refused;
    return *this;
  }
};

}  // namespace livebtl::core
