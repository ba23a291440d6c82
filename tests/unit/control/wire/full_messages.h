// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/full_messages.h -- each message, and the outcome, with every field set.
#pragma once

#include "tests/unit/control/wire/full_node_messages.h"

namespace livebtl::test {

inline core::TransportStatus full_transport() {
  core::TransportStatus status{"verbs", "openib", true, true, "no device", true, true, 20,
                               21,      22,       23,   true, {},          31,   32};
  status.carried = {24, 25, 26, 27, 28, 29, 30};
  return status;
}

inline core::PeerStatus full_peer() {
  return {ProcessId{78},
          "rank 4",
          "tcp",
          "sm",
          crowd("bulk"),
          40,
          41,
          42,
          0xffffffffffffffffULL,
          {{"tcp", 43}, {"sm", 44}},
          {{"sm", 45}},
          true};
}

inline StatusAnswer full_status() {
  core::EngineStatus engine;
  engine.process = ProcessId{77};
  engine.incarnation = kSecond;
  engine.epoch = 50;
  engine.rung = full_rung_report();
  engine.hold = full_hold_report();
  engine.routing = full_routing();
  engine.transports = {full_transport()};
  engine.peers = {full_peer()};
  engine.retransmitted_frames = 51;
  engine.duplicate_frames = 52;
  engine.reordered_frames = 53;
  return {full_standing(), engine, 54, 55};
}

inline core::RoutingPlan full_plan() {
  return {crowd("peer"), {{"sm", {{"tcp", 3}, {"ofi", 4}}}}, 5};
}

inline SwitchRecord full_switch() {
  SwitchRecord record;
  record.operation = 0x60;
  record.epoch = 61;
  record.verb = "switch";
  record.arguments = {"sm", "tcp"};
  record.node = "n1";
  record.ordered_by = "root on node17";
  record.finished_by = "the job itself";
  record.began_unix_ns = 62;
  record.end = SwitchEnd::kRefused;
  record.refusal = "no device";
  record.pairs_moved = 63;
  record.pairs_left = 64;
  record.rungs = {{Rung::kNewTx, true, 65, 66, true, "rank 2"}};
  return record;
}

inline PageView full_page() {
  PageView page;
  static_cast<Described&>(page) = full_standing();
  page.job = "job-1";
  page.pid = 70;
  page.unix_ms = 71;
  page.term = {3, 4};
  page.seq = 72;
  page.operation = 0x73;
  page.epoch = 74;
  page.rung = Rung::kJoint;
  page.reached = false;
  page.undoing = page.joining = page.busy = page.left_open = true;
  page.doing = page.refusal = page.waiting = page.routing = "switch sm tcp";
  page.hold = full_hold_report();
  page.transports = {full_transport()};
  page.pairs = {
      {ProcessId{78}, "rank 4", "tcp", "sm", {"tcp"}, 80, 81, 82, 83, 84, 85, true, 86, 187, true}};
  page.pairs_total = 87;
  page.awaited_from_any = 88;
  page.losses = {{89, ProcessId{78}, "tcp", "connection reset"}};
  page.losses_total = 90;
  page.messages_sent = 91;
  page.messages_received = 92;
  page.retransmitted_frames = 93;
  page.duplicate_frames = 94;
  page.reordered_frames = 95;
  page.switches = {full_switch()};
  return page;
}

inline MembersAnswer full_members() {
  const MemberId member{ProcessId{77}, kSecond};
  return {"job-1", 1, 2, false, {{member, "rank 0", 0, "n1", true}, {}}, {"tcp://10.0.0.1:5 a"},
          true};
}

inline std::vector<Message> full_ladder_messages() {
  return {StandingRequest{"job-1", true},
          PromiseRequest{"job-1", {1, 2}, true},
          Order{"job-1", {3, 4}, 9, 4, Rung::kNew, true, full_operation(), "root on node17"},
          LadderEnd{"job-1", {5, 6}, true, 7},
          full_standing(),
          PlanRequest{"job-1", full_routing()}};
}

inline HoldRequest full_hold_request() {
  HoldRequest request{"job-1", HoldAction::kRestore, 0x51, 60'000, 4, 7, kSecond, 0x52};
  request.relays = {"tcp://10.0.0.7:40123,tcp://[fd00::7]:40123"};
  return request;
}

/// Each type once, in the order of Message, with every field set.
inline std::vector<Message> full_messages() {
  const MemberId member{ProcessId{77}, kSecond};
  const core::Contacts contacts = {{"sm", {}}, {"tcp", {std::byte{0}, std::byte{0xaf}}}};
  std::vector<Message> messages = full_ladder_messages();
  for (const Message& message :
       std::initializer_list<Message>{PlanAnswer{member, "rank 1", full_plan()},
                                      MembersRequest{"job-1", 3},
                                      full_members(),
                                      StatusRequest{"job-1", true, 9},
                                      full_status(),
                                      ListRequest{"job-1"},
                                      ListAnswer{member, "rank 1", 1, "n1", {full_transport()}},
                                      WatchRequest{"job-1", 500},
                                      WatchEvent{"left", full_standing()},
                                      SecretRequest{"job-1"},
                                      SecretAnswer{std::string(64, 'a')},
                                      AddressesRequest{"job-1", 5},
                                      AddressesAnswer{member, 6, contacts},
                                      full_hold_request(),
                                      HoldAnswer{member, "rank 6", 6, 8, 7, full_hold_report()},
                                      ErrorAnswer{Errc::kAuth, "not permitted"},
                                      PageRequest{"job-1"},
                                      PageAnswer{full_page()},
                                      full_node_request(),
                                      full_node_standing()})
    messages.push_back(message);
  return messages;
}

inline Outcome full_outcome() {
  Outcome outcome;
  outcome.code = ExitCode::kRetracted;
  outcome.verb = "switch";
  outcome.arguments = {"sm", "tcp"};
  outcome.scope = "node:n1";
  outcome.text = "switch sm tcp: time-out";
  outcome.already = outcome.background = outcome.released = true;
  outcome.operation = 0xabc;
  outcome.epoch = 60;
  outcome.members = 61;
  outcome.rung = Rung::kJoint;
  outcome.pairs_moved = 62;
  outcome.pairs_left = 63;
  outcome.pairs = crowd("pair");
  outcome.stragglers = {
      {{ProcessId{77}, kSecond}, "rank 1", 1, Rung::kJoint, true, crowd("marker")}, {}};
  outcome.stragglers_total = 64;
  outcome.missing_ranks = {7, 8};
  outcome.rungs = {{Rung::kNewTx, true, true, 0.25}, {}};
  outcome.other_holders = crowd("foreign");
  outcome.absent = crowd("absent");
  outcome.plans = {{"rank 1", full_plan()}};
  outcome.opens = crowd("open");
  outcome.closes = crowd("close");
  return outcome;
}

}  // namespace livebtl::test
