// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.cc -- see migrate_steps.h.
#include "hypervisor/migrate/migrate_steps.h"

#include <algorithm>

#include "hypervisor/qmp/guest_holders.h"

namespace livebtl::hypervisor {
namespace {

/// A return path lets the destination say that it has taken everything, which only a socket
/// carries.
bool has_way_back(const std::string& uri) {
  return uri.starts_with("tcp:") || uri.starts_with("unix:");
}

}  // namespace

MigrateSteps::MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop, Say say)
    : request_(request),
      stop_(stop),
      say_(std::move(say)),
      budget_(monotonic_now(), request.timeout),
      agent_(request.agent),
      destination_agent_(request.destination_agent) {}

Patience MigrateSteps::forward() const { return {budget_.there(), &stop_}; }
Patience MigrateSteps::plugging() {
  return Patience{budget_.afterwards(monotonic_now()), nullptr}.at_most(kPlugMax);
}
Patience MigrateSteps::afterwards() { return plugging().at_most(kAfterwards); }
Patience MigrateSteps::diagnosis() const { return {budget_.diagnosis(monotonic_now()), nullptr}; }

Result<std::string> MigrateSteps::guest_name() {
  return agent_.host_name(forward().at_most(kLookMax));
}

Answer MigrateSteps::perform(Action action) {
  switch (action.what) {
    case Do::kLook:
      return look_first();
    case Do::kPrepare:
      return order(agent_, GuestOrder::kPrepare);
    case Do::kUnplug:
      return unplug(action.card);
    case Do::kMigrate:
      return begin();
    case Do::kFollow:
      return follow();
    case Do::kCancel:
      return cancel();
    case Do::kLookBack:
      return look_back();
    case Do::kGoOn:
      return on_source([this](Qmp& qmp) { return wait_running(qmp, afterwards()); }, afterwards());
    case Do::kPlug:
      return plug(action.card);
    case Do::kReturn:
      return order(agent_, GuestOrder::kReturn);
    case Do::kArrive:
      return arrive();
    case Do::kPlugThere:
      return plug_there(action.card);
    case Do::kReturnThere:
      return order(destination_agent_, GuestOrder::kReturn);
    case Do::kEnd:
      break;
  }
  return {};
}

Answer MigrateSteps::cancel() {
  going_back_ = true;
  const auto ask = [this](Qmp& qmp) -> Status {
    const auto asked = qmp.execute("migrate_cancel", Json::object(), afterwards());
    if (!asked) return tl::unexpected(asked.error());
    return {};
  };
  return on_source(ask, afterwards());
}

Answer MigrateSteps::plug(std::size_t card) {
  const auto act = [&](Qmp& qmp) {
    auto plugged = plug_card_again(qmp, cards_[card], plugging());
    plugged_in_ = plugged_in_ || plugged;
    return plugged ? forget_card(qmp, cards_[card].id, afterwards()) : plugged;
  };
  return on_source(act, afterwards());
}

Answer MigrateSteps::plug_there(std::size_t card) {
  const auto act = [&](Qmp& qmp) {
    auto plugged = plug_card(qmp, cards_[card], plugging());
    plugged_in_ = plugged_in_ || plugged;
    return plugged;
  };
  return on_destination(act, afterwards());
}

Result<Qmp*> MigrateSteps::source(const Patience& patience) {
  if (!source_) {
    auto opened = Qmp::open(request_.qmp, patience);
    if (!opened) return tl::unexpected(opened.error());
    source_.emplace(std::move(*opened));
  }
  return &*source_;
}

Result<Qmp*> MigrateSteps::destination(const Patience& patience) {
  if (!destination_qmp_) {
    auto opened = Qmp::open(request_.destination_qmp, patience);
    if (!opened) return tl::unexpected(opened.error());
    destination_qmp_.emplace(std::move(*opened));
  }
  return &*destination_qmp_;
}

Answer MigrateSteps::on_source(const std::function<Status(Qmp&)>& act, const Patience& patience) {
  const auto qmp = source(patience);
  if (!qmp) return answer_of(qmp.error());
  const Status status = act(**qmp);
  // The next step connects anew where this one's connection is of no use. Elsewhere it is kept:
  // somebody may wait for his turn, who would have QEMU to himself then.
  if (!status && !can_go_on(status.error().code)) source_.reset();
  return answer_of(status);
}

Answer MigrateSteps::on_destination(const std::function<Status(Qmp&)>& act,
                                    const Patience& patience) {
  const auto qmp = destination(patience);
  return qmp ? answer_of(act(**qmp)) : answer_of(qmp.error());
}

/// Not to be interrupted (give_order), but it has its own time-out.
Answer MigrateSteps::order(GuestAgent& agent, GuestOrder order) {
  const bool forwards = order == GuestOrder::kPrepare;
  const TimeNs limit = forwards ? budget_.there() : budget_.afterwards(monotonic_now());
  const bool card_comes = !forwards && plugged_in_;
  const auto said = give_order(agent, request_.guest, order, tries_until(limit, card_comes));
  if (!said) {
    const Error& error = said.error();
    return {went_of(error.code), code_of_later(error.code), error.text, {}};
  }
  Answer answer;
  answer.seen.absent = said->absent;
  if (said->code == kCodeDone) return answer;
  // Nobody is there to leave a card or to return to one, unless somebody has named him.
  if (said->no_job && request_.guest.job.empty()) {
    say_("no job runs in the guest");
    answer.seen.has_job = false;
    return answer;
  }
  return {Went::kFailed, said->code, "in the guest: " + said->text, {}};
}

/// Not to be interrupted either: a card that was asked for goes, sooner or later, and only who
/// waits for it can plug it in again.
Answer MigrateSteps::unplug(std::size_t card) {
  Patience patience = forward().at_most(kUnplugMax);
  patience.stop = nullptr;
  Answer answer =
      on_source([&](Qmp& qmp) { return pull_card(qmp, cards_[card], patience); }, patience);
  if (answer.went == Went::kTimeout) answer.text += holders_text(agent_, diagnosis());
  return answer;
}

Answer MigrateSteps::begin() {
  const Patience patience = forward();
  return on_source(
      [&](Qmp& qmp) -> Status {
        const bool acknowledged = has_way_back(request_.to);
        for (const Card& card : cards_) {
          if (auto gone = drop_shared_memory(qmp, card, patience); !gone) return gone;
        }
        if (auto set = set_capabilities(qmp, acknowledged, patience); !set) return set;
        const auto begun = qmp.execute("migrate", {{"uri", request_.to}}, patience);
        if (!begun) return tl::unexpected(begun.error());
        return {};
      },
      patience);
}

Answer MigrateSteps::follow() {
  const Patience patience = going_back_ ? plugging().at_most(kCancelMax) : forward();
  MigrationState state;
  Answer went =
      on_source([&](Qmp& qmp) { return follow_migration(qmp, patience, say_, state); }, patience);
  figures_ = state.figures;
  if (went.went == Went::kTimeout) return {Went::kTimeout, 0, "the migration took too long", {}};
  if (went.went != Went::kWell) return went;
  Answer answer;
  answer.text = state.why;
  answer.seen.migration = state.migration;
  return answer;
}

Answer MigrateSteps::arrive() {
  const Patience patience = afterwards();
  return on_destination([&](Qmp& qmp) { return wait_running(qmp, patience); }, patience);
}

}  // namespace livebtl::hypervisor
