// SPDX-License-Identifier: BSD-3-Clause
// control/wire/message_fields.h -- which fields each message has in JSON, once for both directions.
// Internal to messages.cc.
#pragma once

#include "control/wire/messages.h"
#include "control/wire/value_fields.h"

namespace livebtl::control {

template <class A>
void fields(A& a, Is<StandingRequest> auto& v) {
  a("job", v.job);
  a("release", v.release);
}

template <class A>
void fields(A& a, Is<PromiseRequest> auto& v) {
  a("job", v.job);
  a("term", v.term);
  a("takeover", v.takeover);
}

template <class A>
void fields(A& a, Is<Order> auto& v) {
  a("job", v.job);
  a("term", v.term);
  a("seq", v.seq);
  a("epoch", v.epoch);
  a("rung", v.rung);
  a("undoing", v.undoing);
  a("operation", v.operation);
}

template <class A>
void fields(A& a, Is<LadderEnd> auto& v) {
  a("job", v.job);
  a("term", v.term);
  a("unfinished", v.unfinished);
  a("seq", v.seq);
}

template <class A>
void fields(A& a, Is<Standing> auto& v) {
  a("member", v.member);
  a("name", v.name);
  a("rank", v.rank);
  a("node", v.node);
  a("host", v.host);
  a("term", v.term);
  a("seq", v.seq);
  a("epoch", v.epoch);
  a("version", v.version);
  a("rung", v.rung);
  a("reached", v.reached);
  a("undoing", v.undoing);
  a("joining", v.joining);
  a("stale", v.stale);
  a("busy", v.busy);
  a("left_open", v.left_open);
  a("refused_seq", v.refused_seq);
  a("operation", v.operation);
  a("report", v.report);
  a("routing", v.routing);
  a("transports", v.transports);
  a("list_size", v.list_size);
  a("announced", v.announced);
}

template <class A>
void fields(A& a, Is<PlanRequest> auto& v) {
  a("job", v.job);
  a("routing", v.routing);
}

template <class A>
void fields(A& a, Is<PlanAnswer> auto& v) {
  a("member", v.member);
  a("name", v.name);
  a("plan", v.plan);
}

template <class A>
void fields(A& a, Is<MembersRequest> auto& v) {
  a("job", v.job);
  a("offset", v.offset);
}

template <class A>
void fields(A& a, Is<MemberEntry> auto& v) {
  a("member", v.member);
  a("name", v.name);
  a("rank", v.rank);
  a("node", v.node);
  a("gone", v.gone);
}

template <class A>
void fields(A& a, Is<MembersAnswer> auto& v) {
  a("job", v.job);
  a("offset", v.offset);
  a("total", v.total);
  a("complete", v.complete);
  a("members", v.members);
  a("relays", v.relays);
}

template <class A>
void fields(A& a, Is<StatusRequest> auto& v) {
  a("job", v.job);
  a("peers", v.peers);
  a("peers_offset", v.peers_offset);
}

template <class A>
void fields(A& a, Is<StatusAnswer> auto& v) {
  a("standing", v.standing);
  a("engine", v.engine);
  a("peers_offset", v.peers_offset);
  a("peers_total", v.peers_total);
}

template <class A>
void fields(A& a, Is<ListRequest> auto& v) {
  a("job", v.job);
}

template <class A>
void fields(A& a, Is<ListAnswer> auto& v) {
  a("member", v.member);
  a("name", v.name);
  a("rank", v.rank);
  a("node", v.node);
  a("transports", v.transports);
}

template <class A>
void fields(A& a, Is<WatchRequest> auto& v) {
  a("job", v.job);
  a("lease_ms", v.lease_ms);
}

template <class A>
void fields(A& a, Is<WatchEvent> auto& v) {
  a("kind", v.kind);
  a("standing", v.standing);
}

template <class A>
void fields(A& a, Is<SecretRequest> auto& v) {
  a("job", v.job);
}

template <class A>
void fields(A& a, Is<SecretAnswer> auto& v) {
  a("secret", v.secret);
}

template <class A>
void fields(A& a, Is<AddressesRequest> auto& v) {
  a("job", v.job);
  a("question", v.question);
}

template <class A>
void fields(A& a, Is<AddressesAnswer> auto& v) {
  a("member", v.member);
  a("question", v.question);
  a("addresses", v.addresses);
}

template <class A>
void fields(A& a, Is<HoldRequest> auto& v) {
  a("job", v.job);
  a("action", v.action);
  a("id", v.id);
  a("lease_ms", v.lease_ms);
  a("members", v.members);
  a("number", v.number);
  a("incarnation", v.incarnation);
}

template <class A>
void fields(A& a, Is<HoldAnswer> auto& v) {
  a("member", v.member);
  a("name", v.name);
  a("rank", v.rank);
  a("announced", v.announced);
  a("number", v.number);
  a("report", v.report);
}

template <class A>
void fields(A& a, Is<ErrorAnswer> auto& v) {
  a("code", v.code);
  a("text", v.text);
}

}  // namespace livebtl::control
