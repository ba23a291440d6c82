// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_placed.cc -- what transports ask before they read the payload of a data frame, or
// of an offer: whether it is wanted, and where it goes. Under the engine's lock. See receive.h.
#include "core/engine/context.h"
#include "core/lane/receive.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {
namespace {

/// nullopt: a frame of another kind, or on a path that is not in use.
template <class Body>
std::optional<FrameHead> head_of(const Path& path, Bytes header, FrameKind kind) noexcept {
  if (!path.open() || header.size() != sizeof(Header<Body>)) return std::nullopt;
  const auto head = decode_head(header);
  return head && head->kind == kind ? head : std::nullopt;
}

/// An offer whose payload may be all that it offers.
std::optional<FrameHead> head_of_offer(const Path& path, Bytes header) noexcept {
  const auto head = head_of<RtsBody>(path, header, FrameKind::kRts);
  return head && (head->flags & (kFlagPut | kFlagGet | kFlagAhead)) == 0 ? head : std::nullopt;
}

}  // namespace

// Data ahead of a request are dropped while nobody has posted a receive: copying them aside would
// take as long as copying them into place. What comes with an offer is left where it is, and asked
// for when somebody has. An offer whose bytes could not be read is asked about again.
bool Receiver::is_wanted(Path& path, Bytes header) noexcept {
  if (const auto data = head_of<DataBody>(path, header, FrameKind::kData))
    return transfers_.is_wanted(*path.peer, *data, decode_body<DataBody>(header));
  const auto offer = head_of_offer(path, header);
  if (!offer) return true;
  return path.reading_seq == offer->seq
             ? !transfers_.read_place(path).empty()
             : begin_offer_read(path, *offer, decode_body<RtsBody>(header));
}

MutableBytes Receiver::on_place(Path& path, Bytes header, std::size_t payload_bytes,
                                bool to_be_checked) noexcept {
  if (const auto data = head_of<DataBody>(path, header, FrameKind::kData))
    return transfers_.place(path, *data, decode_body<DataBody>(header), payload_bytes,
                            to_be_checked);
  const auto offer = head_of_offer(path, header);
  if (!offer || path.reading_seq != offer->seq) return {};
  const MutableBytes place = transfers_.read_place(path);
  return place.size() == payload_bytes ? place : MutableBytes{};
}

// in: the offer again, in its turn, after its payload was read, or was to be.
void Receiver::end_offer_read(Path& path, const FrameHead& head, std::size_t header_bytes,
                              Bytes payload) noexcept {
  path.reading_seq = 0;
  count_ack_owed(*path.peer, head, header_bytes);
  transfers_.end_read(path, payload);
}

}  // namespace livebtl::core
