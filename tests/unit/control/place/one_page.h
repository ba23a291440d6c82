// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/one_page.h -- a page in a test's own directory; both parts are filled.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "control/place/member_page.h"
#include "control/place/page_reader.h"
#include "tests/unit/control/agent/scratch.h"

namespace livebtl::test {

using namespace livebtl::control;

inline constexpr ProcessId kSelf{0x2a};

inline JobFacts facts_in(const Scratch& scratch) {
  JobFacts job;
  job.id = "job-1";
  job.announced = 2;
  job.rank = 1;
  job.host = "node17";
  job.label = "rank 1 on node17";
  job.node = 0x77;
  job.directory = scratch.path();
  return job;
}

inline MemberPage page_in(const Scratch& scratch) {
  auto page = MemberPage::make(facts_in(scratch), {kSelf, Incarnation{1}});
  REQUIRE(page);
  return std::move(*page);
}

inline Standing standing_at(Rung rung) {
  Standing standing;
  standing.term = {3, 5};
  standing.seq = 2;
  standing.epoch = 7;
  standing.rung = rung;
  standing.reached = false;
  standing.operation.id = 9;
  standing.operation.verb = "switch";
  standing.operation.arguments = {"sm", "tcp"};
  standing.report.waiting = {"the marker of rank 0"};
  standing.routing.excluded = {"verbs"};
  return standing;
}

inline History history_of_one() {
  History history;
  Order order;
  order.operation = standing_at(Rung::kJoint).operation;
  order.rung = Rung::kJoint;
  order.by = "root on node17, by btlctl switch";
  history.ordered(order, kSecond, 1'700'000'000'000'000'000);
  Standing standing = standing_at(Rung::kJoint);
  history.stands(standing, kSecond + kMillisecond);
  standing.reached = true;
  standing.report.waiting.clear();
  history.stands(standing, kSecond + 5 * kMillisecond);
  return history;
}

inline void show(core::EnginePageLatch& latch, std::uint64_t messages) {
  core::EnginePage& page = latch.to_fill();
  page = {};
  page.written_ns = monotonic_now();
  page.messages_sent = page.messages_received = messages;
  page.transports_shown = 2;
  page.transport[0].name = "self";
  page.transport[1].name = "sm";
  page.transport[1].open = 1;
  page.transport[1].carried.bytes_sent = 64 * messages;
  page.peers = page.peers_shown = 1;
  page.peer[0].process = 0x2b;
  page.peer[0].label = "rank 0 on node17";
  page.peer[0].sending = 1;
  page.peer[0].receiving = core::kNoTransport;
  page.peer[0].bulk = 2;
  page.losses = page.losses_shown = 1;
  page.loss[0].at_ns = page.written_ns;
  page.loss[0].process = 0x2b;
  page.loss[0].transport = "tcp";
  page.loss[0].why = "connection reset";
  latch.publish();
}

/// Returns kOk if the page was accepted.
inline Errc code_of(const Result<PageView>& view) { return view ? Errc::kOk : view.error().code; }

inline Result<PageView> read(const Scratch& scratch, ProcessId process = kSelf) {
  return read_page(scratch.path(), ::geteuid(), process);
}

/// Bytes in our own memory, as a page that nobody writes to.
inline PageBytes bytes_in(const std::vector<std::byte>& image) {
  return [&image](std::size_t offset, MutableBytes into) {
    if (offset + into.size() > image.size()) return false;
    std::memcpy(into.data(), image.data() + offset, into.size());
    return true;
  };
}

inline std::vector<std::byte> image_of(const MemberPage& page) {
  const auto* begin = reinterpret_cast<const std::byte*>(&page.image());
  return {begin, begin + sizeof(PageFile)};
}

}  // namespace livebtl::test
