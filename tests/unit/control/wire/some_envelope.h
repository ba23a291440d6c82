// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/some_envelope.h -- envelopes, and heads of packets, for tests of a node's sockets.
#pragma once

#include <string>

#include "control/wire/local_frame.h"

namespace livebtl::test {

inline control::Envelope envelope_of(std::string body, std::string to = "somebody",
                                     std::string back = "way") {
  return {.peer = "", .back = std::move(back), .to = std::move(to), .body = std::move(body)};
}

/// The first bytes of a packet, as a hostile peer may write them.
inline std::string head(std::uint8_t version, std::uint16_t back, std::uint16_t to,
                        std::uint8_t zero = 0) {
  std::string text(control::kLocalHeadBytes, '\0');
  text[0] = static_cast<char>(version);
  text[1] = static_cast<char>(zero);
  text[2] = static_cast<char>(back & 0xff);
  text[3] = static_cast<char>(back >> 8);
  text[4] = static_cast<char>(to & 0xff);
  text[5] = static_cast<char>(to >> 8);
  return text;
}

}  // namespace livebtl::test
