// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous_offer.cc -- large messages whose bytes are exposed with their offer, and read by the
// peer at once if a receive waits there: the rendezvous by get of other libraries. See rendezvous.h;
// docs/adr/0079 has the reasons. Under the engine's lock.
#include <algorithm>
#include <utility>

#include "core/engine/context.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {

// At the end that has the bytes.

bool Transfers::may_expose(Peer& peer, const Path& path, std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is being made has its transfer");
  const bool alone = peer.bulk_paths.size() == 1 && peer.bulk_paths.front() == &path;
  return alone && out->slice_count == 1 && !to_expose(peer, path, name).empty() &&
         exposes(peer, path, *out, out->bytes);
}

// Nothing behind a transfer that takes all that the path can expose, nor while little may overtake
// what is on its way by another path.
Bytes Transfers::to_expose(const Peer& peer, const Path& path, std::uint64_t name) const noexcept {
  const OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  const Caps& caps = path.slot.caps;
  const bool can = !path.keeps && path.copies != Copies::kTwice && caps.zero_copy_bytes_min != 0;
  const bool fits =
      out->bytes >= caps.zero_copy_bytes_min && out->bytes <= caps.zero_copy_bytes_max;
  if (!can || !fits || peer.tx.overtake_bytes != SIZE_MAX || streams(peer, caps)) return {};
  return {static_cast<const std::byte*>(out->slices[0].data), out->bytes};
}

// Is there anything to send for which one exposed buffer is not enough?
bool Transfers::streams(const Peer& peer, const Caps& caps) const noexcept {
  return std::ranges::any_of(peer.sending, [&](std::uint64_t name) {
    const OutTransfer* const out = out_.find(name);
    return out != nullptr &&
           (out->total() > caps.zero_copy_bytes_max || out->way == CopyChoice::Way::kCopied);
  });
}

void Transfers::exposed(Path& path, std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that was posted just now has its transfer");
  out->with_offer = true;
  ++out->posted;
  path.posted.push_back(name);
}

void Transfers::not_exposed(std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  out->way.reset();  // not a choice, so nothing is learnt from it
}

// At the end that reads them.

// While the kernel refuses to read, other data of the transfer may come by other paths, once this
// end has lost one and asked for them: as any data that are being placed, see place().
void Transfers::begin_read(Path& path, InTransfer in, std::uint64_t wanted) {
  InTransfer& mine = in_.acquire(path.reading);
  mine = std::move(in);
  mine.wanted = wanted;
  ++path.peer->transfers_open;
  path.placing = path.reading;
  path.placing_begin = 0;
  path.placing_end = wanted;
  path.placing_since = begin_copy(path, CopyWork::Part::kRead, wanted, wanted);
}

MutableBytes Transfers::read_place(const Path& path) noexcept {
  const InTransfer* const in = in_.find(path.reading);
  if (in == nullptr) return {};
  LIVEBTL_ASSERT(in->slice_count == 1 && in->wanted <= in->slices[0].bytes,
                 "an offer that is read goes into one buffer");
  return {static_cast<std::byte*>(in->slices[0].data), in->wanted};
}

void Transfers::end_read(Path& path, Bytes payload) noexcept {
  const std::uint64_t handle = std::exchange(path.reading, 0);
  const TimeNs since = std::exchange(path.placing_since, 0);
  path.placing = 0;
  InTransfer* const in = in_.find(handle);
  if (in == nullptr) return;
  if (payload.data() != in->slices[0].data || payload.size() != in->wanted)
    return ask(*in, handle, 0);
  in->with_offer = true;
  in->arrived.add(0, payload.size());
  path.peer->placed_bytes_in += payload.size();
  end_copy(path, CopyWork::Part::kRead, in->wanted, payload.size(), since);
  complete_in(handle);
}

}  // namespace livebtl::core
