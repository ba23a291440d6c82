// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_remote_buffer.h -- how a queue pair describes a buffer that the peer's device is to read
// (docs/WIRE.md, "verbs"). Pure.
#pragma once

#include "transports/messages/exposed.h"

namespace livebtl::verbs {

using messages::Kind;
using messages::kPayloadBytesMax;
using messages::Message;

struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
};
static_assert(sizeof(RemoteBuffer) == 24);

}  // namespace livebtl::verbs
