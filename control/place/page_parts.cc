// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_parts.cc -- see page_parts.h.
#include "control/place/page_parts.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

RungRecord record_of(const RungPage& page, Fit& fit) {
  RungRecord record;
  record.rung = fit.one_of(page.rung, Rung::kNew, "a rung is unknown");
  record.undoing = fit.flag(page.undoing);
  record.reached = fit.flag(page.reached);
  record.ordered_ns = fit.time(page.ordered_ns);
  record.reached_ns = fit.time(page.reached_ns);
  record.waited_for = clean_text(page.waited_for);
  fit.must(record.reached_ns >= record.ordered_ns, "a rung is reached before it is ordered");
  return record;
}

SwitchRecord record_of(const SwitchPage& page, Fit& fit) {
  SwitchRecord record;
  record.operation = page.operation;
  record.epoch = page.epoch;
  record.verb = clean_text(page.verb);
  std::istringstream words(clean_text(page.arguments));
  for (std::string word; words >> word;) record.arguments.push_back(word);
  record.node = clean_text(page.node);
  record.ordered_by = clean_text(page.ordered_by);
  record.finished_by = clean_text(page.finished_by);
  record.began_unix_ns = page.began_unix_ns;
  fit.must(page.began_unix_ns <= std::uint64_t{INT64_MAX}, "a time is out of range");
  record.end = fit.one_of(page.end, SwitchEnd::kRefused, "the end of a switch is unknown");
  record.refusal = clean_text(page.refusal);
  record.pairs_moved = page.pairs_moved;
  record.pairs_left = page.pairs_left;
  const std::uint32_t rungs = fit.count(page.rungs_shown, page.rung.size());
  for (std::uint32_t i = 0; i < rungs; ++i) record.rungs.push_back(record_of(page.rung[i], fit));
  return record;
}

core::TransportStatus status_of(const core::TransportPage& page, Fit& fit) {
  core::TransportStatus status;
  status.name = clean_text(page.name);
  fit.must(is_transport_name(status.name), "a transport's name is not valid");
  status.alias = alias_of(status.name);
  status.bound_to_device = fit.flag(page.bound_to_device);
  status.open = fit.flag(page.open);
  status.absent = clean_text(page.absent);
  status.excluded = fit.flag(page.excluded);
  status.quiesced = fit.flag(page.quiesced);
  status.exclusivity = page.exclusivity;
  status.weight = page.weight;
  status.peers = page.pairs;
  status.bulk_peers = page.bulk_pairs;
  status.own_pair = fit.flag(page.own_pair);
  status.carried = page.carried;
  status.paths_lost = page.paths_lost;
  status.corrupt_frames = page.corrupt_frames;
  return status;
}

PairView view_of(const core::PeerPage& page, const PageView& whole, Fit& fit) {
  const auto name_of = [&](std::uint8_t index) {
    if (index == core::kNoTransport) return std::string();
    fit.must(index < whole.transports.size(), "a pair uses an unknown transport");
    return index < whole.transports.size() ? whole.transports[index].name : std::string();
  };
  PairView view;
  view.process = ProcessId{page.process};
  view.name = clean_text(page.label);
  view.sending = name_of(page.sending);
  view.receiving = name_of(page.receiving);
  for (std::uint8_t i = 0; i < core::kPageTransports; ++i) {
    if ((page.bulk >> i & 1) != 0) view.bulk.push_back(name_of(i));
  }
  view.messages_sent = page.messages_sent;
  view.messages_received = page.messages_received;
  view.bytes_sent = page.bytes_sent;
  view.bytes_received = page.bytes_received;
  view.kept_bytes = page.kept_bytes;
  view.queued = page.queued;
  view.awaited = page.awaited;
  view.untaken = page.untaken;
  view.out_of_credit = fit.flag(page.out_of_credit);
  view.lost = fit.flag(page.lost);
  fit.must(view.process != ProcessId{}, "a pair has no process");
  return view;
}

void take_hold(const core::EnginePage& page, PageView& view, Fit& fit) {
  const core::HoldPage& hold = page.hold;
  const std::int64_t left_ms = (fit.time(hold.until_ns) - fit.time(page.written_ns)) / kMillisecond;
  view.hold.id = hold.id;
  view.hold.state =
      fit.one_of(hold.state, core::HoldState::kFenced, "the state of its hold is unknown");
  view.hold.members = hold.members;
  view.hold.left_ms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left_ms, 0, UINT32_MAX));
  view.hold.claimed = fit.flag(hold.claimed);
  view.hold.incarnation = Incarnation{hold.incarnation};
  view.hold.restored_from = hold.restored_from;
  view.hold.claim = hold.claim;
  view.hold.why = clean_text(hold.why);
}

void take_losses(const core::EnginePage& page, std::uint64_t clock_to_unix, PageView& view,
                 Fit& fit) {
  const std::uint32_t shown = fit.count(page.losses_shown, page.loss.size());
  for (std::uint32_t i = 0; i < shown; ++i) {
    const core::LossPage& loss = page.loss[i];
    const auto at = static_cast<std::uint64_t>(fit.time(loss.at_ns));
    view.losses.push_back({(at + clock_to_unix) / std::uint64_t{kMillisecond},
                           ProcessId{loss.process}, clean_text(loss.transport),
                           clean_text(loss.why)});
  }
}

}  // namespace

void take_header(const PageHeader& page, PageView& view, Fit& fit) {
  view.job = clean_text(page.job);
  view.member = {ProcessId{page.process}, Incarnation{page.incarnation}};
  view.pid = static_cast<std::uint32_t>(page.pid);
  view.rank = page.rank;
  view.name = clean_text(page.name);
  view.host = clean_text(page.host);
  view.node = clean_text(page.node);
  view.announced = page.announced;
  fit.must(is_plain_name(view.job), "its job's id is not valid");
  fit.must(page.pid > 0 && page.rank >= -1, "its process has no number");
  fit.must(parse_process_name(view.node, "").has_value(), "its node's id is not valid");
}

void take_standing(const StandingPage& page, PageView& view, Fit& fit) {
  view.term = {page.term, page.coordinator};
  view.seq = page.seq;
  view.operation = page.operation;
  view.epoch = page.epoch;
  view.rung = fit.one_of(page.rung, Rung::kNew, "its rung is unknown");
  view.reached = fit.flag(page.reached);
  view.undoing = fit.flag(page.undoing);
  view.joining = fit.flag(page.joining);
  view.busy = fit.flag(page.busy);
  view.left_open = fit.flag(page.left_open);
  view.doing = clean_text(page.doing);
  view.refusal = clean_text(page.refusal);
  view.waiting = clean_text(page.waiting);
  view.routing = clean_text(page.routing);
  const std::uint32_t switches = fit.count(page.switches_shown, page.switch_.size());
  for (std::uint32_t i = 0; i < switches; ++i)
    view.switches.push_back(record_of(page.switch_[i], fit));
}

void take_engine(const core::EnginePage& page, std::uint64_t clock_to_unix, PageView& view,
                 Fit& fit) {
  const auto written = static_cast<std::uint64_t>(fit.time(page.written_ns));
  if (written != 0) view.unix_ms = (written + clock_to_unix) / std::uint64_t{kMillisecond};
  const std::uint32_t transports = fit.count(page.transports_shown, page.transport.size());
  for (std::uint32_t i = 0; i < transports; ++i) {
    core::TransportStatus status = status_of(page.transport[i], fit);
    fit.must(std::ranges::find(view.transports, status.name, &core::TransportStatus::name) ==
                 view.transports.end(),
             "a transport is listed twice");
    view.transports.push_back(std::move(status));
  }
  const std::uint32_t peers = fit.count(page.peers_shown, page.peer.size());
  for (std::uint32_t i = 0; i < peers; ++i) view.pairs.push_back(view_of(page.peer[i], view, fit));
  view.pairs_total = page.peers;
  view.awaited_from_any = page.awaited_from_any;
  view.losses_total = page.losses;
  view.messages_sent = page.messages_sent;
  view.messages_received = page.messages_received;
  view.retransmitted_frames = page.retransmitted_frames;
  view.duplicate_frames = page.duplicate_frames;
  view.reordered_frames = page.reordered_frames;
  take_hold(page, view, fit);
  take_losses(page, clock_to_unix, view, fit);
}

}  // namespace livebtl::control
