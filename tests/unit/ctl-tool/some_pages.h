// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/some_pages.h -- pages of a job of four ranks on two nodes, for display tests.
#pragma once

#include "ctl-tool/pages.h"

namespace livebtl::test {

inline core::TransportStatus transport(const std::string& name, std::uint32_t pairs,
                                       std::uint64_t bytes) {
  core::TransportStatus status;
  status.name = name;
  status.open = true;
  status.peers = pairs;
  status.carried.bytes_sent = bytes;
  status.carried.frames_sent = bytes / 100;
  return status;
}

inline control::PairView pair_with(std::uint64_t process, const std::string& sending,
                                   std::uint64_t bytes) {
  control::PairView pair;
  pair.process = ProcessId{process};
  pair.name = "rank " + std::to_string(process - 100) + " on a";
  pair.sending = sending;
  pair.bytes_sent = bytes;
  pair.messages_sent = bytes / 100;
  return pair;
}

/// Rank 0 and 1 on one node, joined by sm, 2 and 3 on another; between them tcp.
inline tool::Pages some_pages(std::uint64_t unix_ms = 1'000, std::uint64_t bytes = 10'000) {
  tool::Pages pages;
  pages.job = "job-1";
  pages.user = "alice";
  for (int rank = 0; rank < 4; ++rank) {
    control::PageView page;
    page.job = pages.job;
    page.member = {ProcessId{100 + static_cast<std::uint64_t>(rank)}, Incarnation{1}};
    page.rank = rank;
    page.name = "rank " + std::to_string(rank) + " on " + (rank < 2 ? "a" : "b");
    page.host = rank < 2 ? "a" : "b";
    page.node = rank < 2 ? "00000000000000aa" : "00000000000000bb";
    page.pid = 7;
    page.announced = 4;
    page.unix_ms = unix_ms;
    page.rung = control::Rung::kNew;
    page.messages_sent = bytes / 100;
    page.transports = {transport("sm", 1, bytes), transport("tcp", 2, 2 * bytes)};
    for (int peer = 0; peer < 4; ++peer) {
      const auto process = 100 + static_cast<std::uint64_t>(peer);
      if (peer != rank)
        page.pairs.push_back(pair_with(process, (peer < 2) == (rank < 2) ? "sm" : "tcp", bytes));
    }
    page.pairs_total = 3;
    pages.pages.push_back(std::move(page));
  }
  return pages;
}

/// What one rank remembers of a switch in which newtx took it that long.
inline control::SwitchRecord remembered(std::uint64_t operation, TimeNs newtx_took,
                                        const std::string& waited_for = "") {
  control::SwitchRecord record;
  record.operation = operation;
  record.verb = "switch";
  record.arguments = {"sm", "tcp"};
  record.ordered_by = "root on a, by btlctl switch";
  record.began_unix_ns = operation * std::uint64_t{kSecond};
  record.end = control::SwitchEnd::kDone;
  record.pairs_moved = 1;
  const TimeNs joint = 2 * kMillisecond;
  record.rungs = {{control::Rung::kJoint, false, 0, joint, true, ""},
                  {control::Rung::kNewTx, false, joint, joint + newtx_took, true, waited_for},
                  {control::Rung::kNew, false, joint + newtx_took, joint + newtx_took, true, ""}};
  return record;
}

}  // namespace livebtl::test
