// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/ledger.h -- the messages' oracle: what each process sent, what each received, and
// whether that fits.
//
// The first violation is kept; everything after it may follow from it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/bytes.h"

namespace livebtl::sim {

/// Messages of one source, target and tag form a stream, and must match in the order sent.
struct StreamId {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Tag tag = 0;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

class Ledger {
 public:
  explicit Ledger(std::uint64_t seed) noexcept : seed_(seed) {}

  /// The message number `index` of a stream; the same for sender and oracle.
  Blob message(const StreamId& stream, std::uint64_t index) const;
  std::uint64_t next_to_send(const StreamId& stream) const;
  void sent(const StreamId& stream) { ++streams_[stream].sent; }
  /// The sender was told that message `index` is done.
  void done(const StreamId& stream, std::uint64_t index) { streams_[stream].done.insert(index); }
  /// A receive that may only take from this stream, number `index` among those posted for it, took
  /// `bytes`.
  void received(const StreamId& stream, std::uint64_t index, Bytes bytes,
                std::size_t message_bytes);
  /// A receive from anybody, number `posted` of its process, took a message. Judged at the end.
  void received_from_any(const StreamId& stream, std::uint64_t posted, Bytes bytes,
                         std::size_t message_bytes);

  /// An atomic fetch-and-add on `target`'s counter was accepted, or returned the value from before.
  void added(std::uint64_t target) { ++counters_[target].accepted; }
  void fetched(std::uint64_t target, std::uint64_t before);
  /// Active messages of a pair arrive in order.
  void active_sent(const StreamId& pair) { ++streams_[pair].sent; }
  void active_received(const StreamId& pair, std::uint64_t index);

  /// Nothing more will come from or go to it: its streams are not waited for.
  void lost(std::uint64_t process) { lost_.insert(process); }
  bool is_lost(std::uint64_t process) const { return lost_.contains(process); }
  /// It ends in good order: nothing sent to it is waited for; of its own messages, only those that
  /// it was told are done. bounded: it waits only so long for its peers, which are told then.
  void leaves(std::uint64_t process, bool bounded) { left_[process] = bounded; }
  /// Operations that name it may end with an error.
  bool is_gone(std::uint64_t process) const { return is_lost(process) || left_.contains(process); }
  /// It has left, and the two have exchanged something: receives from it end. (Nobody asks after a
  /// process that was never met only because a receive names it; and a path to one that crashed may
  /// stay silent forever.)
  bool must_tell(std::uint64_t process, std::uint64_t other) const;
  /// A process was told that another one is lost.
  void told_lost(std::uint64_t process, std::uint64_t other) {
    told_lost_.insert({process, other});
  }
  std::size_t lost_count() const noexcept { return lost_.size(); }
  /// All that was sent between living processes has arrived.
  bool complete() const;
  /// What is missing, in readable form.
  std::string missing() const;
  /// At the end: the order of receives from anybody, and the counters. counter_of: what memory
  /// holds.
  void check_end(const std::map<std::uint64_t, std::uint64_t>& counter_of);

  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  const std::string& failure() const noexcept { return failure_; }
  std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Stream {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::set<std::uint64_t> done;     // indexes, as the sender was told
    std::set<std::uint64_t> indexes;  // of received ones
    std::map<std::uint64_t, std::uint64_t>
        index_by_post;  // receives from anybody: order posted -> index
  };
  struct Counter {
    std::uint64_t accepted = 0;
    std::set<std::uint64_t> fetched;
  };

  /// Something of the stream is waited for.
  bool matters(const StreamId& stream) const {
    return !is_lost(stream.from) && !is_gone(stream.to);
  }
  /// ... all of it.
  bool is_whole(const StreamId& stream) const { return matters(stream) && !is_gone(stream.from); }
  bool has_come(const StreamId& id, const Stream& stream) const;
  void count(const StreamId& stream, std::uint64_t index);
  bool same(const StreamId& stream, std::uint64_t index, Bytes bytes, std::size_t message_bytes);

  std::uint64_t seed_;
  std::map<StreamId, Stream> streams_;
  std::map<std::uint64_t, Counter> counters_;
  std::set<std::uint64_t> lost_;
  std::map<std::uint64_t, bool> left_;  // process -> bounded
  std::set<std::pair<std::uint64_t, std::uint64_t>> told_lost_;
  std::uint64_t messages_ = 0;
  std::string failure_;
};

std::string to_text(const StreamId& stream);

}  // namespace livebtl::sim
