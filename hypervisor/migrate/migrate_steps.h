// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.h -- carries out what migrate_machine.h decides: each step by a
// machine or the agent in its guest, with its own deadline. Used by btlctl's one thread; owns the
// machines, borrows the request.
#pragma once

#include "hypervisor/plan/steps.h"

namespace livebtl::hypervisor {

struct MigrateRequest {
  const Hypervisor* hypervisor = nullptr;  // outlives it
  VmPlace source, destination;             // destination: empty if it cannot be reached
  std::string to;                          // in that hypervisor's own form
  std::vector<std::string> cards;
  std::vector<Json> card_arguments;  // as the user typed them
  GuestJob guest;
  TimeNs timeout = 0;  // of the whole command (Budget)
  bool dry_run = false;

  bool has_destination() const noexcept { return !destination.empty(); }
};

class MigrateSteps : public Steps {
 public:
  MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop, Progress progress);

  Answer perform(Action action) override;

  const Vm& source() const noexcept { return *source_; }
  /// nullptr: it cannot be reached.
  const Vm* destination() const noexcept { return destination_.get(); }
  const std::vector<Card>& cards() const noexcept { return cards_; }
  /// The hypervisor's own figures of the migration.
  const Json& figures() const noexcept { return figures_; }
  /// The name that orders in the guest are scoped to.
  Result<std::string> guest_name();

 private:
  /// At the destination.
  Answer perform_there(Action action);
  Answer look_first();
  Status look_ahead(const Deadline& deadline);
  Answer look_for_hold(const Deadline& deadline);
  Answer look(const Deadline& deadline);
  Status look_at_cards(const Deadline& deadline, Observation& seen);
  Answer look_back();
  Answer order(GuestAgent& agent, GuestOrder order);
  Answer follow();
  Answer cancel();
  Answer return_here();
  std::string left_there();
  Json given_arguments(const std::string& id) const;

  const MigrateRequest& request_;
  bool going_back_ = false;
  bool began_ = false;  // the migration, perhaps; or an earlier call did
  bool has_job_ = true;
  std::unique_ptr<Vm> destination_, source_;
  std::vector<Card> cards_;
  Json figures_ = Json::object();
};

}  // namespace livebtl::hypervisor
