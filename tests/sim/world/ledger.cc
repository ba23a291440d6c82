// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/ledger.cc -- the oracle's books.
#include "tests/sim/world/ledger.h"

#include <algorithm>

#include "base/random.h"

namespace livebtl::sim {

std::string to_text(const StreamId& stream) {
  return std::to_string(stream.from) + "->" + std::to_string(stream.to) + " tag " +
         std::to_string(stream.tag);
}

Blob Ledger::message(const StreamId& stream, std::uint64_t index) const {
  Random random(seed_ ^ (stream.from << 48) ^ (stream.to << 32) ^ (stream.tag << 24) ^
                (index * 0x9E37'79B9ULL));
  // Mostly small, some around the eager limit, a few that need a rendezvous in many pieces.
  const std::uint64_t kind = random.below(16);
  const std::size_t bytes = 8 + (kind == 0  ? random.below(20'000)
                                 : kind < 4 ? random.below(3000)
                                 : kind < 8 ? random.below(200)
                                            : random.below(36));
  Blob blob(bytes);
  std::memcpy(blob.data(), &index, sizeof index);
  std::size_t at = sizeof index;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(blob.data() + at, &word, 8);
  }
  const std::uint64_t last = random.next();
  std::memcpy(blob.data() + at, &last, bytes - at);
  return blob;
}

std::uint64_t Ledger::next_to_send(const StreamId& stream) const {
  const auto at = streams_.find(stream);
  return at != streams_.end() ? at->second.sent : 0;
}

void Ledger::count(const StreamId& stream, std::uint64_t index) {
  Stream& books = streams_[stream];
  ++messages_;
  ++books.received;
  if (!books.indexes.insert(index).second)
    fail("message " + std::to_string(index) + " of " + to_text(stream) + " came twice");
  if (index >= books.sent)
    fail("message " + std::to_string(index) + " of " + to_text(stream) + " was never sent");
}

bool Ledger::same(const StreamId& stream, std::uint64_t index, Bytes bytes,
                  std::size_t message_bytes) {
  const Blob wanted = message(stream, index);
  return wanted.size() == message_bytes && bytes.size() <= wanted.size() &&
         std::memcmp(bytes.data(), wanted.data(), bytes.size()) == 0;
}

void Ledger::received(const StreamId& stream, std::uint64_t index, Bytes bytes,
                      std::size_t message_bytes) {
  if (!same(stream, index, bytes, message_bytes)) {
    std::uint64_t claimed = 0;
    if (bytes.size() >= sizeof claimed) std::memcpy(&claimed, bytes.data(), sizeof claimed);
    fail("receive " + std::to_string(index) + " of " + to_text(stream) +
         " got other bytes; they say they are number " + std::to_string(claimed) + ", length " +
         std::to_string(message_bytes));
  }
  count(stream, index);
}

void Ledger::received_from_any(const StreamId& stream, std::uint64_t posted, Bytes bytes,
                               std::size_t message_bytes) {
  std::uint64_t index = 0;
  if (bytes.size() >= sizeof index) std::memcpy(&index, bytes.data(), sizeof index);
  if (!same(stream, index, bytes, message_bytes)) {
    fail("a receive from anybody got damaged bytes of " + to_text(stream) + ", number " +
         std::to_string(index));
  }
  count(stream, index);
  streams_[stream].index_by_post[posted] = index;
}

void Ledger::fetched(std::uint64_t target, std::uint64_t before) {
  if (!counters_[target].fetched.insert(before).second) {
    fail("two atomics fetched " + std::to_string(before) + " from process " +
         std::to_string(target) + ": one ran twice or not at all");
  }
}

void Ledger::active_received(const StreamId& pair, std::uint64_t index) {
  if (index != streams_[pair].received) {
    fail("active message " + std::to_string(index) + " of " + to_text(pair) + " came as number " +
         std::to_string(streams_[pair].received));
  }
  count(pair, index);
}

// From a process that left: what was reported done; if it did not wait, its peers may be told
// instead.
bool Ledger::has_come(const StreamId& id, const Stream& stream) const {
  if (!matters(id)) return true;
  if (is_whole(id)) return stream.received == stream.sent;
  if (left_.at(id.from) && told_lost_.contains({id.to, id.from})) return true;
  return std::ranges::includes(stream.indexes, stream.done);
}

bool Ledger::must_tell(std::uint64_t process, std::uint64_t other) const {
  return left_.contains(other) && !is_lost(other) &&
         std::ranges::any_of(streams_, [&](const auto& entry) {
           const auto& [id, stream] = entry;
           const auto between = std::minmax(id.from, id.to);
           return stream.received != 0 && between == std::minmax(process, other);
         });
}

bool Ledger::complete() const {
  return std::ranges::all_of(
      streams_, [this](const auto& entry) { return has_come(entry.first, entry.second); });
}

std::string Ledger::missing() const {
  std::string text;
  for (const auto& [id, stream] : streams_) {
    if (has_come(id, stream)) continue;
    text += (text.empty() ? "" : "; ") + to_text(id) + ": " + std::to_string(stream.received) +
            " of " + std::to_string(stream.sent);
    if (!is_whole(id)) text += ", " + std::to_string(stream.done.size()) + " of them done";
  }
  return text;
}

void Ledger::check_end(const std::map<std::uint64_t, std::uint64_t>& counter_of) {
  for (const auto& [id, stream] : streams_) {
    std::uint64_t next = 0;
    for (const auto& [posted, index] : stream.index_by_post) {
      // A rendezvous of a process that died or left may be missing, but nothing is out of order.
      if (!is_whole(id) && index > next) next = index;
      if (index == next++) continue;
      const auto due = std::ranges::find_if(
          stream.index_by_post, [&](const auto& entry) { return entry.second == next - 1; });
      fail("receives from anybody took " + to_text(id) + " out of order: receive " +
           std::to_string(posted) + " got number " + std::to_string(index) + ", and receive " +
           (due != stream.index_by_post.end() ? std::to_string(due->first) : "none") + " got " +
           std::to_string(next - 1));
    }
  }
  for (const auto& [process, value] : counter_of) {
    const auto books = counters_.find(process);
    const std::uint64_t accepted = books != counters_.end() ? books->second.accepted : 0;
    const std::uint64_t fetched = books != counters_.end() ? books->second.fetched.size() : 0;
    // An atomic whose process died or left before it was done may have run or not.
    const bool all_here = lost_.empty() && left_.empty();
    if (all_here ? value != accepted : value > accepted || value < fetched) {
      fail("the counter of process " + std::to_string(process) + " is " + std::to_string(value) +
           " after " + std::to_string(accepted) + " additions");
    }
  }
}

}  // namespace livebtl::sim
