// SPDX-License-Identifier: BSD-3-Clause
// control/wire/value_fields.h -- which fields the values inside messages have in JSON, once for both
// directions. Internal to messages.cc and outcome.cc.
#pragma once

#include "control/ladder/ladder_types.h"
#include "control/wire/json_archive.h"

namespace livebtl::control {

template <class A>
void fields(A& a, Is<Term> auto& v) {
  a("number", v.number);
  a("coordinator", v.coordinator);
}

template <class A>
void fields(A& a, Is<MemberId> auto& v) {
  a("process", v.process);
  a("incarnation", v.incarnation);
}

template <class A>
void fields(A& a, Is<core::Tuning> auto& v) {
  a("exclusivity", v.exclusivity);
  a("weight", v.weight);
}

template <class A>
void fields(A& a, Is<core::Rules> auto& v) {
  a("excluded", v.excluded);
  a("quiesced", v.quiesced);
  a("moved", v.moved);
  a("set_aside", v.set_aside);
}

template <class A>
void fields(A& a, Is<Routing> auto& v) {
  a("excluded", v.excluded);
  a("quiesced", v.quiesced);
  a("moved", v.moved);
  a("set_aside", v.set_aside);
  a("tuning", v.tuning);
  a("nodes", v.nodes);
}

template <class A>
void fields(A& a, Is<KnownTransport> auto& v) {
  a("name", v.name);
  a("alias", v.alias);
  a("bound_to_device", v.bound_to_device);
}

template <class A>
void fields(A& a, Is<Operation> auto& v) {
  a("id", v.id);
  a("verb", v.verb);
  a("arguments", v.arguments);
  a("node", v.node);
  a("release", v.release);
  a("before", v.before);
  a("after", v.after);
}

template <class A>
void fields(A& a, Is<core::RungReport> auto& v) {
  a("operation", v.operation);
  a("epoch", v.epoch);
  a("rung", v.rung);
  a("reached", v.reached);
  a("refusal", v.refusal);
  a("refused_last_path", v.refused_last_path);
  a.names("pairs", v.pairs);
  a("pairs_moved", v.pairs_moved);
  a("pairs_left", v.pairs_left);
  a.names("waiting", v.waiting);
  a.names("foreign", v.foreign);
  a.names("absent", v.absent);
}

template <class A>
void fields(A& a, Is<core::HoldReport> auto& v) {
  a("id", v.id);
  a("state", v.state);
  a("members", v.members);
  a("left_ms", v.left_ms);
  a("claimed", v.claimed);
  a("incarnation", v.incarnation);
  a("restored_from", v.restored_from);
  a("why", v.why);
  a("refusal", v.refusal);
  a.names("waiting", v.waiting);
}

template <class A>
void fields(A& a, Is<core::RoutingPlan> auto& v) {
  a.names("cut_off", v.cut_off);
  a("moves", v.moves);
  a("unchanged", v.unchanged);
}

template <class A>
void fields(A& a, Is<core::TransportStatus> auto& v) {
  a("name", v.name);
  a("alias", v.alias);
  a("bound_to_device", v.bound_to_device);
  a("open", v.open);
  a("absent", v.absent);
  a("excluded", v.excluded);
  a("quiesced", v.quiesced);
  a("exclusivity", v.exclusivity);
  a("weight", v.weight);
  a("peers", v.peers);
  a("bulk_peers", v.bulk_peers);
  a("own_pair", v.own_pair);
  a.count("frames_sent", v.carried.frames_sent);
  a.count("frames_received", v.carried.frames_received);
  a.count("bytes_sent", v.carried.bytes_sent);
  a.count("bytes_received", v.carried.bytes_received);
  a.count("frames_lent", v.carried.frames_exposed);
  a.count("frames_fetched", v.carried.frames_read_remotely);
  a.count("registrations_refused", v.carried.registrations_refused);
  a.count("paths_lost", v.paths_lost);
  a.count("corrupt_frames", v.corrupt_frames);
}

template <class A>
void fields(A& a, Is<core::PeerStatus> auto& v) {
  a("process", v.process);
  a("name", v.name);
  a("transport", v.transport);
  a("receiving", v.receiving);
  a.names("bulk", v.bulk);
  a("generation", v.generation);
  a.count("messages_sent", v.messages_sent);
  a.count("messages_received", v.messages_received);
  a.count("kept_bytes", v.kept_bytes);
  a.counts("frames_sent", v.frames_sent);
  a.counts("frames_received", v.frames_received);
  a("lost", v.lost);
}

template <class A>
void fields(A& a, Is<core::EngineStatus> auto& v) {
  a("process", v.process);
  a("incarnation", v.incarnation);
  a("epoch", v.epoch);
  a("rung", v.rung);
  a("hold", v.hold);
  a("routing", v.routing);
  a("transports", v.transports);
  a("peers", v.peers);
  a.count("retransmitted_frames", v.retransmitted_frames);
  a.count("duplicate_frames", v.duplicate_frames);
  a.count("reordered_frames", v.reordered_frames);
}

}  // namespace livebtl::control
