// SPDX-License-Identifier: BSD-3-Clause
// control/wire/fields.h -- the fields that each message, and each value in one, has in JSON: one
// list per type, used by both JsonReader and JsonWriter. Internal to messages.cc.
//
// FIELDS: by the field's type; unsigned 64-bit numbers are ids, in hexadecimal. COUNTS: 64-bit
// numbers that are numbers in JSON as well, and maps and lists of them. NAMES: lists for people,
// cut when written.
#pragma once

#include "control/wire/json_archive.h"
#include "control/wire/messages.h"

#define LIVEBTL_FIELDS_OF(Type) \
  template <class Archive>      \
  void fields([[maybe_unused]] Archive& archive, Is<Type> auto& value)
#define LIVEBTL_FIELD(name) archive(#name, value.name);
#define LIVEBTL_COUNT(name) archive.count(#name, value.name);
#define LIVEBTL_NAME_LIST(name) archive.names(#name, value.name);
#define LIVEBTL_EACH(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(__VA_ARGS__))
#define LIVEBTL_FIELDS(...) LIVEBTL_EACH(LIVEBTL_FIELD, __VA_ARGS__)
#define LIVEBTL_COUNTS(...) LIVEBTL_EACH(LIVEBTL_COUNT, __VA_ARGS__)
#define LIVEBTL_NAMES(...) LIVEBTL_EACH(LIVEBTL_NAME_LIST, __VA_ARGS__)

namespace livebtl::control {

// -- values

LIVEBTL_FIELDS_OF(Term) { LIVEBTL_FIELDS(number, coordinator); }
LIVEBTL_FIELDS_OF(MemberId) { LIVEBTL_FIELDS(process, incarnation); }
LIVEBTL_FIELDS_OF(core::Tuning) {
  LIVEBTL_FIELDS(exclusivity, weight);
  archive.optional("single_copy", value.single_copy);
}
LIVEBTL_FIELDS_OF(core::Rules) { LIVEBTL_FIELDS(excluded, quiesced, moved, set_aside); }
inline core::Rules& rules_of(Routing& routing) { return routing; }
inline const core::Rules& rules_of(const Routing& routing) { return routing; }
LIVEBTL_FIELDS_OF(Routing) {
  LIVEBTL_FIELDS(tuning, nodes);
  fields(archive, rules_of(value));
}
LIVEBTL_FIELDS_OF(KnownTransport) { LIVEBTL_FIELDS(name, alias, bound_to_device); }
LIVEBTL_FIELDS_OF(Operation) { LIVEBTL_FIELDS(id, verb, arguments, node, release, before, after); }
LIVEBTL_FIELDS_OF(core::RungReport) {
  LIVEBTL_FIELDS(operation, epoch, rung, reached, refusal, refused_last_path);
  LIVEBTL_FIELDS(pairs_moved, pairs_left);
  LIVEBTL_NAMES(pairs, waiting, other_holders, absent);
}
LIVEBTL_FIELDS_OF(core::HoldReport) {
  LIVEBTL_FIELDS(id, state, members, left_ms, claimed, claim, incarnation, restored_from, why);
  LIVEBTL_FIELDS(refusal);
  LIVEBTL_NAMES(waiting);
}
LIVEBTL_FIELDS_OF(core::RoutingPlan) {
  LIVEBTL_FIELDS(moves, unchanged);
  LIVEBTL_NAMES(cut_off);
}
LIVEBTL_FIELDS_OF(core::EndpointStats) {
  LIVEBTL_COUNTS(frames_sent, frames_received, bytes_sent, bytes_received);
  LIVEBTL_COUNTS(frames_exposed, frames_read_remotely, registrations_refused);
}
LIVEBTL_FIELDS_OF(core::TransportStatus) {
  LIVEBTL_FIELDS(name, alias, bound_to_device, open, absent, excluded, quiesced);
  LIVEBTL_FIELDS(exclusivity, weight, peers, bulk_peers, own_pair);
  LIVEBTL_COUNTS(paths_lost, corrupt_frames);
  fields(archive, value.carried);
}
LIVEBTL_FIELDS_OF(core::PeerStatus) {
  LIVEBTL_FIELDS(process, name, transport, receiving, generation, lost);
  LIVEBTL_COUNTS(messages_sent, messages_received, kept_bytes, frames_sent, frames_received);
  LIVEBTL_NAMES(bulk);
}
LIVEBTL_FIELDS_OF(core::EngineStatus) {
  LIVEBTL_FIELDS(process, incarnation, epoch, rung, hold, routing, transports, peers);
  LIVEBTL_COUNTS(retransmitted_frames, duplicate_frames, reordered_frames);
}
LIVEBTL_FIELDS_OF(MemberEntry) {
  LIVEBTL_FIELDS(member, name, rank, node, gone);
  archive.optional("left_behind", value.left_behind);
}

LIVEBTL_FIELDS_OF(RungRecord) {
  LIVEBTL_FIELDS(rung, undoing, reached, waited_for);
  LIVEBTL_COUNTS(ordered_ns, reached_ns);
}
LIVEBTL_FIELDS_OF(SwitchRecord) {
  LIVEBTL_FIELDS(operation, epoch, verb, arguments, node, ordered_by, finished_by, end, refusal);
  LIVEBTL_FIELDS(pairs_moved, pairs_left, rungs);
  LIVEBTL_COUNTS(began_unix_ns);
}
LIVEBTL_FIELDS_OF(PairView) {
  LIVEBTL_FIELDS(process, name, sending, receiving, bulk, queued, awaited, lost);
  LIVEBTL_FIELDS(untaken, out_of_credit);
  LIVEBTL_COUNTS(messages_sent, messages_received, bytes_sent, bytes_received, kept_bytes);
}
LIVEBTL_FIELDS_OF(LossView) {
  LIVEBTL_FIELDS(process, transport, why);
  LIVEBTL_COUNTS(unix_ms);
}
LIVEBTL_FIELDS_OF(PageView) {
  LIVEBTL_FIELDS(member, name, rank, node, host, announced, job, pid, term, epoch, rung);
  LIVEBTL_FIELDS(reached, undoing, joining, busy, left_open, operation, doing, refusal, waiting);
  LIVEBTL_FIELDS(routing, hold, transports, pairs, pairs_total, awaited_from_any, losses, switches);
  LIVEBTL_COUNTS(unix_ms, seq, losses_total, messages_sent, messages_received);
  LIVEBTL_COUNTS(retransmitted_frames, duplicate_frames, reordered_frames);
}

// -- messages

LIVEBTL_FIELDS_OF(StandingRequest) { LIVEBTL_FIELDS(job, release); }
LIVEBTL_FIELDS_OF(PromiseRequest) { LIVEBTL_FIELDS(job, term, takeover); }
LIVEBTL_FIELDS_OF(Order) {
  LIVEBTL_FIELDS(job, term, seq, epoch, rung, undoing, operation);
  archive.optional("by", value.by);
}
LIVEBTL_FIELDS_OF(LadderEnd) { LIVEBTL_FIELDS(job, term, unfinished, seq); }
LIVEBTL_FIELDS_OF(Standing) {
  LIVEBTL_FIELDS(member, name, rank, node, host, term, seq, epoch, version, rung);
  LIVEBTL_FIELDS(reached, undoing, joining, stale, busy, left_open, refused_seq);
  LIVEBTL_FIELDS(operation, report, routing, transports, list_size, announced);
}
LIVEBTL_FIELDS_OF(PlanRequest) { LIVEBTL_FIELDS(job, routing); }
LIVEBTL_FIELDS_OF(PlanAnswer) { LIVEBTL_FIELDS(member, name, plan); }
LIVEBTL_FIELDS_OF(MembersRequest) { LIVEBTL_FIELDS(job, offset); }
LIVEBTL_FIELDS_OF(MembersAnswer) {
  LIVEBTL_FIELDS(job, offset, total, complete, members, relays);
  archive.optional("merges", value.merges);
}
LIVEBTL_FIELDS_OF(StatusRequest) { LIVEBTL_FIELDS(job, peers, peers_offset); }
LIVEBTL_FIELDS_OF(StatusAnswer) { LIVEBTL_FIELDS(standing, engine, peers_offset, peers_total); }
LIVEBTL_FIELDS_OF(ListRequest) { LIVEBTL_FIELDS(job); }
LIVEBTL_FIELDS_OF(ListAnswer) { LIVEBTL_FIELDS(member, name, rank, node, transports); }
LIVEBTL_FIELDS_OF(WatchRequest) { LIVEBTL_FIELDS(job, lease_ms); }
LIVEBTL_FIELDS_OF(WatchEvent) { LIVEBTL_FIELDS(kind, standing); }
LIVEBTL_FIELDS_OF(SecretRequest) { LIVEBTL_FIELDS(job); }
LIVEBTL_FIELDS_OF(SecretAnswer) { LIVEBTL_FIELDS(secret); }
LIVEBTL_FIELDS_OF(PageRequest) { LIVEBTL_FIELDS(job); }
LIVEBTL_FIELDS_OF(PageAnswer) { LIVEBTL_FIELDS(page); }
LIVEBTL_FIELDS_OF(AddressesRequest) { LIVEBTL_FIELDS(job, question); }
LIVEBTL_FIELDS_OF(AddressesAnswer) { LIVEBTL_FIELDS(member, question, addresses); }
LIVEBTL_FIELDS_OF(HoldRequest) {
  LIVEBTL_FIELDS(job, action, id, lease_ms, members, number, incarnation, claim);
  archive.optional("relays", value.relays);
}
LIVEBTL_FIELDS_OF(HoldAnswer) { LIVEBTL_FIELDS(member, name, rank, announced, number, report); }
LIVEBTL_FIELDS_OF(ErrorAnswer) { LIVEBTL_FIELDS(code, text); }

LIVEBTL_FIELDS_OF(NodeShare) { LIVEBTL_FIELDS(relay, members); }
LIVEBTL_FIELDS_OF(NodeRequest) {
  LIVEBTL_FIELDS(question, order, release, takeover, unfinished, described, members, onward);
}
LIVEBTL_FIELDS_OF(MemberNote) {
  LIVEBTL_FIELDS(at);
  LIVEBTL_NAMES(pairs, waiting);
}
LIVEBTL_FIELDS_OF(StandingGroup) {
  LIVEBTL_FIELDS(shared, described, members, ranks, names, pairs_moved, pairs_left, notes);
  LIVEBTL_COUNTS(versions);
}
LIVEBTL_FIELDS_OF(NodeStanding) { LIVEBTL_FIELDS(asked, answered, missing, gone, groups); }

// -- the outcome, which is only written

LIVEBTL_FIELDS_OF(Straggler) {
  LIVEBTL_FIELDS(member, name, rank, rung, answered);
  LIVEBTL_NAMES(waiting);
}
LIVEBTL_FIELDS_OF(RungTime) { LIVEBTL_FIELDS(rung, undoing, complete, milliseconds); }
LIVEBTL_FIELDS_OF(MemberPlan) { LIVEBTL_FIELDS(name, plan); }
LIVEBTL_FIELDS_OF(Outcome) {
  LIVEBTL_FIELDS(verb, arguments, scope, text, already, background, released, operation, epoch);
  LIVEBTL_FIELDS(members, rung, pairs_moved, pairs_left, stragglers, stragglers_total);
  LIVEBTL_FIELDS(missing_ranks, rungs, plans);
  LIVEBTL_NAMES(pairs, other_holders, absent, opens, closes);
}

}  // namespace livebtl::control
