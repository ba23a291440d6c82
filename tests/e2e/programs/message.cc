// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/message.cc -- the content of a message, and the ledger of sequence numbers.
#include <algorithm>
#include <cstring>

#include "proof.h"

namespace e2e {
namespace {

std::uint64_t key_of(const MessageName& name, std::size_t bytes) noexcept {
  std::uint64_t key = mix((std::uint64_t{name.source} << 32) | name.target);
  key = mix(key ^ name.tag);
  key = mix(key ^ name.seq);
  return mix(key ^ bytes);
}

std::uint64_t word_at(std::uint64_t key, std::size_t index) noexcept {
  const std::uint64_t value = key + index * 0x9e3779b97f4a7c15U;
  return value ^ (value >> 29);
}

void copy_name(std::byte* to, const MessageName& name) noexcept {
  std::memcpy(to, &name, kNameBytes);
}

std::string stream_text(int source, int tag, std::uint64_t seq) {
  return "source " + std::to_string(source) + " tag " + std::to_string(tag) + " seq " +
         std::to_string(seq);
}

}  // namespace

static_assert(sizeof(MessageName) == kNameBytes);

std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

void fill(std::byte* buffer, std::size_t bytes, const MessageName& name) noexcept {
  const std::uint64_t key = key_of(name, bytes);
  const std::size_t start = bytes >= kNameBytes ? kNameBytes : 0;
  if (start > 0) copy_name(buffer, name);
  std::size_t index = 0;
  std::size_t at = start;
  for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t), ++index) {
    const std::uint64_t word = word_at(key, index);
    std::memcpy(buffer + at, &word, sizeof word);
  }
  const std::uint64_t last = word_at(key, index);
  if (at < bytes) std::memcpy(buffer + at, &last, bytes - at);
}

bool matches(const std::byte* buffer, std::size_t bytes, const MessageName& name) noexcept {
  const std::uint64_t key = key_of(name, bytes);
  const std::size_t start = bytes >= kNameBytes ? kNameBytes : 0;
  if (start > 0 && std::memcmp(buffer, &name, kNameBytes) != 0) return false;
  std::uint64_t differences = 0;
  std::size_t index = 0;
  std::size_t at = start;
  for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t), ++index) {
    std::uint64_t word = 0;
    std::memcpy(&word, buffer + at, sizeof word);
    differences |= word ^ word_at(key, index);
  }
  const std::uint64_t last = word_at(key, index);
  if (at < bytes && std::memcmp(buffer + at, &last, bytes - at) != 0) return false;
  return differences == 0;
}

void Ledger::write(std::byte* buffer, std::size_t bytes, int target, int tag) {
  const std::uint64_t seq = next_out_[{target, tag}]++;
  fill(buffer, bytes,
       {static_cast<std::uint32_t>(proof_.rank()), static_cast<std::uint32_t>(target),
        static_cast<std::uint32_t>(tag), 0, seq});
  sent_to_.resize(static_cast<std::size_t>(proof_.size()));
  ++sent_to_[static_cast<std::size_t>(target)];
  proof_.note_sent(bytes);
}

void Ledger::skip(int source, int tag) {
  received_from_.resize(static_cast<std::size_t>(proof_.size()));
  ++received_from_[static_cast<std::size_t>(source)];
  ++next_in_[{source, tag}];
  proof_.note_received(0);
}

void Ledger::read(const std::byte* buffer, std::size_t bytes, int source, int tag) {
  std::uint64_t& expected = next_in_[{source, tag}];
  received_from_.resize(static_cast<std::size_t>(proof_.size()));
  ++received_from_[static_cast<std::size_t>(source)];
  proof_.note_received(bytes);
  MessageName name{static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(proof_.rank()),
                   static_cast<std::uint32_t>(tag), 0, expected};
  if (matches(buffer, bytes, name)) {
    ++expected;
    return;
  }
  MessageName found{};
  if (bytes >= kNameBytes) std::memcpy(&found, buffer, kNameBytes);
  name.seq = found.seq;
  const std::string where = stream_text(source, tag, expected);
  if (bytes < kNameBytes || !matches(buffer, bytes, name)) {
    proof_.error(Proof::Fault::kCorrupt,
                 "content of " + where + " (" + std::to_string(bytes) + " bytes) is wrong");
    ++expected;
    return;
  }
  const bool repeated = found.seq < expected;
  proof_.error(repeated ? Proof::Fault::kRepeated : Proof::Fault::kOutOfOrder,
               "expected " + where + ", got seq " + std::to_string(found.seq));
  expected = std::max(expected, found.seq + 1);
}

void Ledger::settle() {
  const auto size = static_cast<std::size_t>(proof_.size());
  sent_to_.resize(size);
  received_from_.resize(size);
  std::vector<std::uint64_t> sent_to_me(size);
  MPI_Alltoall(sent_to_.data(), 1, MPI_UINT64_T, sent_to_me.data(), 1, MPI_UINT64_T, comm_);
  for (std::size_t source = 0; source < size; ++source) {
    const std::uint64_t sent = sent_to_me[source];
    const std::uint64_t received = received_from_[source];
    if (sent == received) continue;
    proof_.error(sent > received ? Proof::Fault::kLost : Proof::Fault::kRepeated,
                 "rank " + std::to_string(source) + " sent " + std::to_string(sent) +
                     " messages, " + std::to_string(received) + " arrived",
                 sent > received ? sent - received : received - sent);
  }
}

}  // namespace e2e
