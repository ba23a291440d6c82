// SPDX-License-Identifier: BSD-3-Clause
// control/wire/outcome_json.cc -- the outcome of a command as a JSON document.
#include "control/ladder/outcome.h"
#include "control/wire/messages.h"
#include "control/wire/value_fields.h"

namespace livebtl::control {

// Found by JsonWriter through its namespace, hence not in an unnamed one.
static void fields(JsonWriter& a, const Straggler& v) {
  a("member", v.member);
  a("name", v.name);
  a("rank", v.rank);
  a("rung", v.rung);
  a("answered", v.answered);
  a.names("waiting", v.waiting);
}

static void fields(JsonWriter& a, const RungTime& v) {
  a("rung", v.rung);
  a("undoing", v.undoing);
  a("complete", v.complete);
  a("milliseconds", v.milliseconds);
}

static void fields(JsonWriter& a, const MemberPlan& v) {
  a("name", v.name);
  a("plan", v.plan);
}

std::string outcome_json(const Outcome& outcome) {
  JsonWriter a;
  a.object["schema"] = "livebtl.outcome/1";
  a("exit_code", static_cast<int>(outcome.code));
  a("verb", outcome.verb);
  a("arguments", outcome.arguments);
  a("scope", outcome.scope);
  a("text", outcome.text);
  a("already", outcome.already);
  a("released", outcome.released);
  a("operation", outcome.operation);
  a("epoch", outcome.epoch);
  a("members", outcome.members);
  a("rung", outcome.rung);
  a("pairs_moved", outcome.pairs_moved);
  a("pairs_left", outcome.pairs_left);
  a.names("pairs", outcome.pairs);
  a("stragglers", outcome.stragglers);
  a("stragglers_total", outcome.stragglers_total);
  a("missing_ranks", outcome.missing_ranks);
  a("rungs", outcome.rungs);
  a.names("foreign", outcome.foreign);
  a.names("absent", outcome.absent);
  a("plans", outcome.plans);
  a.names("opens", outcome.opens);
  a.names("closes", outcome.closes);
  return a.object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace livebtl::control
