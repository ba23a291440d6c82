// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.h -- does what migrate_machine.h decides: each step by QEMU's
// monitor or the guest agent, with its own deadline. Used by btlctl's one thread; owns the
// connections, borrows the request.
#pragma once

#include "hypervisor/plan/steps.h"

namespace livebtl::hypervisor {

struct MigrateRequest {
  std::string qmp, agent;  // sockets
  std::string to;          // as QEMU's migrate takes it
  std::vector<std::string> cards;
  std::vector<Json> card_arguments;  // as the user typed them
  std::string destination_qmp, destination_agent;
  GuestJob guest;
  TimeNs timeout = 0;  // of the whole command (Budget)
  bool dry_run = false;

  bool has_destination() const noexcept { return !destination_qmp.empty(); }
};

class MigrateSteps : public Steps {
 public:
  MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop, Progress progress);

  Answer perform(Action action) override;

  const std::vector<Card>& cards() const noexcept { return cards_; }
  /// QEMU's own figures of the migration.
  const Json& figures() const noexcept { return figures_; }
  /// The name that orders in the guest are scoped to.
  Result<std::string> guest_name();

 private:
  Answer look_first();
  Status look_ahead(const Deadline& deadline);
  Answer look_for_hold(const Deadline& deadline);
  Answer look(const Deadline& deadline);
  Status look_at_cards(Qmp& qmp, const Deadline& deadline, Observation& seen);
  Answer look_back();
  Answer order(GuestAgent& agent, GuestOrder order);
  Answer begin();
  Answer follow();
  Answer cancel();
  Json given_arguments(const std::string& id) const;

  const MigrateRequest& request_;
  bool going_back_ = false;
  Monitor source_, destination_;
  GuestAgent agent_, destination_agent_;
  std::vector<Card> cards_;
  Json figures_ = Json::object();
};

}  // namespace livebtl::hypervisor
