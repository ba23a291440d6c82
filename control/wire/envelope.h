// SPDX-License-Identifier: BSD-3-Clause
// control/wire/envelope.h -- what control messages travel in, on a node (local_link.h) and between nodes
// (zmq_socket.h). Plain values.
//
// `back` is returned unread with the answer, so that a router that passes envelopes on keeps no
// state.
#pragma once

#include <cstddef>
#include <string>

namespace livebtl::control {

struct Envelope {
  std::string peer;  // at a listening socket: the peer that it is from or for
  std::string back;
  std::string to;  // route.h; in an answer: its sender
  std::string body;
};

inline constexpr std::size_t kBackBytesMax = 512;

}  // namespace livebtl::control
