// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.cc -- see migrate_steps.h.
#include "hypervisor/migrate/migrate_steps.h"

namespace livebtl::hypervisor {
namespace {

/// A return path lets the destination acknowledge that it has all, which takes a socket.
bool has_return_path(const std::string& uri) {
  return uri.starts_with("tcp:") || uri.starts_with("unix:");
}

}  // namespace

MigrateSteps::MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop,
                           Progress progress)
    : Steps(request.timeout, stop, std::move(progress)),
      request_(request),
      source_(request.qmp),
      destination_(request.destination_qmp),
      agent_(request.agent),
      destination_agent_(request.destination_agent) {}

Result<std::string> MigrateSteps::guest_name() {
  return agent_.host_name(forward().at_most(kLookMax));
}

Answer MigrateSteps::perform(Action action) {
  switch (action.step) {
    case Step::kLook:
      return look_first();
    case Step::kPrepare:
      return order(agent_, GuestOrder::kPrepare);
    case Step::kUnplug:
      return unplug(source_, cards_[action.card], &agent_);
    case Step::kBegin:
      return begin();
    case Step::kMigrate:
      return follow();
    case Step::kCancel:
      return cancel();
    case Step::kLookBack:
      return look_back();
    case Step::kGoOn:
      return on(source_, wait_running, afterwards());
    case Step::kPlug:
      return plug_again(source_, cards_[action.card]);
    case Step::kReturn:
      return order(agent_, GuestOrder::kReturn);
    case Step::kArrive:
      return on(destination_, wait_running, afterwards());
    case Step::kPlugThere:
      return plug(destination_, cards_[action.card]);
    case Step::kReturnThere:
      return order(destination_agent_, GuestOrder::kReturn);
    default:
      return {};
  }
}

Answer MigrateSteps::cancel() {
  going_back_ = true;
  return on(source_, cancel_migration, afterwards());
}

Answer MigrateSteps::order(GuestAgent& agent, GuestOrder order) {
  const auto said = give_order(agent, request_.guest, order, tries(order));
  if (!said) return late_answer_of(said.error());
  Answer answer;
  answer.absent = said->absent;
  if (said->code == kCodeDone) return answer;
  // No job has to leave a card or to return to one, unless the user has named it.
  if (said->no_job && request_.guest.job.empty()) {
    progress_("no job runs in the guest");
    answer.has_job = false;
    return answer;
  }
  return {Outcome::kFailed, said->code, "in the guest: " + said->text};
}

Answer MigrateSteps::begin() {
  const auto act = [this](Qmp& qmp, const Deadline& deadline) -> Status {
    for (const Card& card : cards_) {
      if (auto gone = drop_shared_memory(qmp, card, deadline); !gone) return gone;
    }
    if (auto set = set_capabilities(qmp, has_return_path(request_.to), deadline); !set) return set;
    return qmp.tell("migrate", {{"uri", request_.to}}, deadline);
  };
  return on(source_, act, forward());
}

Answer MigrateSteps::follow() {
  MigrationState state;
  const auto act = [&](Qmp& qmp, const Deadline& deadline) {
    return follow_migration(qmp, deadline, progress_, state);
  };
  Answer answer = on(source_, act, going_back_ ? plugging().at_most(kCancelMax) : forward());
  figures_ = state.figures;
  if (answer.outcome == Outcome::kTimeout)
    return {Outcome::kTimeout, kCodeDone, "the migration took too long"};
  if (!answer.ok()) return answer;
  answer.text = state.why;
  answer.seen = {{.migration = state.migration}};
  return answer;
}

}  // namespace livebtl::hypervisor
