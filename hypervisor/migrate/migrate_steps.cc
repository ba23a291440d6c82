// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.cc -- see migrate_steps.h.
#include "hypervisor/migrate/migrate_steps.h"

namespace livebtl::hypervisor {

MigrateSteps::MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop,
                           Progress progress)
    : Steps(request.timeout, stop, std::move(progress)), request_(request) {
  if (request.has_destination())
    destination_ = request.hypervisor->reach(request.destination, nullptr);
  source_ = request.hypervisor->reach(request.source, destination_.get());
}

Result<std::string> MigrateSteps::guest_name() {
  return source_->agent().host_name(forward().at_most(kLookMax));
}

Answer MigrateSteps::perform(Action action) {
  switch (action.step) {
    case Step::kLook:
      return look_first();
    case Step::kPrepare:
      return order(source_->agent(), GuestOrder::kPrepare);
    case Step::kUnplug:
      return unplug(*source_, cards_[action.card], &source_->agent());
    case Step::kBegin:
      began_ = true;
      return answer_of(source_->begin_migration(request_.to, cards_, forward()));
    case Step::kMigrate:
      return follow();
    case Step::kCancel:
      return cancel();
    case Step::kLookBack:
      return look_back();
    case Step::kGoOn:
      return answer_of(source_->go_on(afterwards()));
    case Step::kPlug:
      return plug_again(*source_, cards_[action.card]);
    case Step::kReturn:
      return return_here();
    default:
      return perform_there(action);
  }
}

Answer MigrateSteps::perform_there(Action action) {
  if (action.step == Step::kArrive) return answer_of(destination_->go_on(afterwards()));
  if (action.step == Step::kPlugThere) return plug(*destination_, cards_[action.card]);
  return order(destination_->agent(), GuestOrder::kReturn);
}

// Takes half of the time left at most, as cards may still have to be plugged in.
std::string MigrateSteps::left_there() {
  if (!began_) return {};
  const Deadline deadline = afterwards();
  const TimeNs half = std::max<TimeNs>(deadline.at - monotonic_now(), 0) / 2;
  return source_->left_there(deadline.at_most(std::min(half, kLeftThereMax)));
}

// The job first: waiting for the destination to clean up takes time.
Answer MigrateSteps::return_here() {
  Answer answer = order(source_->agent(), GuestOrder::kReturn);
  answer.left_there = left_there();
  return answer;
}

Answer MigrateSteps::cancel() {
  going_back_ = true;
  return answer_of(source_->cancel_migration(afterwards()));
}

Answer MigrateSteps::order(GuestAgent& agent, GuestOrder order) {
  const auto said = give_order(agent, request_.guest, order, tries(order));
  if (!said) return late_answer_of(said.error());
  Answer answer;
  answer.absent = said->absent;
  if (said->code == kCodeDone) return answer;
  // Without a job nothing leaves a card or returns to it. A job that the user named must be there.
  if (said->no_job && request_.guest.job.empty()) {
    progress_("no job runs in the guest");
    answer.has_job = has_job_ = false;
    return answer;
  }
  return {Outcome::kFailed, said->code, "in the guest: " + said->text};
}

Answer MigrateSteps::follow() {
  MigrationState state;
  Answer answer = answer_of(source_->follow_migration(
      going_back_ ? plugging().at_most(kCancelMax) : forward(), progress_, state));
  figures_ = state.figures;
  if (answer.outcome == Outcome::kTimeout)
    return {Outcome::kTimeout, kCodeDone, "the migration took too long"};
  if (!answer.ok()) return answer;
  answer.text = state.why;
  answer.seen = {{.migration = state.migration}};
  return answer;
}

}  // namespace livebtl::hypervisor
