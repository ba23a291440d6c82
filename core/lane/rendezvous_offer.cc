// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous_offer.cc -- large messages whose bytes are exposed with their offer, and read by the
// peer at once if a receive waits there: the rendezvous by get of other libraries. See rendezvous.h;
// docs/adr/0079 has the reasons. Under the engine's lock.
#include <algorithm>
#include <utility>

#include "core/engine/context.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {
namespace {

/// Above, a request and a data frame more cost too little to matter.
constexpr std::uint64_t kExposedBytesMax = 256u << 10;

}  // namespace

// At the end that has the bytes.

bool Transfers::may_expose(Peer& peer, const Path& path, std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is being made has its transfer");
  return out->slice_count == 1 && !to_expose(peer, path, name).empty() &&
         exposes(peer, path, *out, out->bytes);
}

// Empty where other paths carry data of the pair, too; while a transfer needs all that the path can
// expose, or is copied; and while the pair moves, when little may overtake what is on its way.
Bytes Transfers::to_expose(const Peer& peer, const Path& path, std::uint64_t name) const noexcept {
  const OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  const Caps& caps = path.slot.caps;
  const bool alone = peer.bulk_paths.size() == 1 && peer.bulk_paths.front() == &path;
  const bool can = !path.keeps && path.copies != Copies::kTwice && caps.zero_copy_bytes_min != 0;
  const bool fits =
      out->bytes >= caps.zero_copy_bytes_min &&
      out->bytes <= std::min<std::uint64_t>(caps.zero_copy_bytes_max, kExposedBytesMax);
  if (!alone || !can || !fits || peer.tx.overtake_bytes != SIZE_MAX || streams(peer, caps))
    return {};
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

bool Transfers::may_wait(std::uint64_t name) noexcept {
  constexpr TimeNs kWaitMax = kMillisecond;
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  const TimeNs now = context_.config.now();
  if (out->waits_since == 0) out->waits_since = now;
  return now - out->waits_since < kWaitMax;
}

void Transfers::exposed(Path& path, std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that was posted just now has its transfer");
  out->with_offer = true;
  ++out->posted;
  path.posted.push_back(name);
}

// Its data go the way that was chosen, if that is open on this path.
void Transfers::not_exposed(const Path& path, std::uint64_t name) noexcept {
  OutTransfer* const out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  if (path.keeps || path.copies != Copies::kMeasured) out->way.reset();
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
  in->arrived.add(0, payload.size());
  path.peer->placed_bytes_in += payload.size();
  end_copy(path, CopyWork::Part::kRead, in->wanted, payload.size(), since);
  complete_in(handle, kFlagAhead);
}

}  // namespace livebtl::core
