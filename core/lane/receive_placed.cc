// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_placed.cc -- what transports ask before they read the payload of a data frame: whether it is wanted,
// and where it goes. Under the engine's lock. See receive.h.
#include "core/engine/context.h"
#include "core/lane/receive.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {
namespace {

/// nullopt: a frame of another kind, or on a path that is not in use.
std::optional<FrameHead> head_of_data(const Path& path, Bytes header) noexcept {
  if (!path.open() || header.size() != sizeof(Header<DataBody>)) return std::nullopt;
  const auto head = decode_head(header);
  return head && head->kind == FrameKind::kData ? head : std::nullopt;
}

}  // namespace

// Data ahead of a request are dropped while nobody has posted a receive: copying them aside would
// take as long as copying them into place.
bool Receiver::is_wanted(Path& path, Bytes header) noexcept {
  const auto head = head_of_data(path, header);
  return !head || transfers_.is_wanted(*path.peer, *head, decode_body<DataBody>(header));
}

MutableBytes Receiver::on_place(Path& path, Bytes header, std::size_t payload_bytes,
                                bool to_be_checked) noexcept {
  const auto head = head_of_data(path, header);
  if (!head) return {};
  return transfers_.place(path, *head, decode_body<DataBody>(header), payload_bytes, to_be_checked);
}

}  // namespace livebtl::core
