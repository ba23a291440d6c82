// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_steps.h -- does what migrate_machine.h decides: each step by QEMU's
// monitor or the guest agent, with its own deadline. Used by btlctl's one thread; owns the
// connections, borrows the request.
#pragma once

#include <optional>

#include "hypervisor/migrate/migrate_machine.h"
#include "hypervisor/plan/budget.h"
#include "hypervisor/qmp/card.h"
#include "hypervisor/qmp/guest_job.h"

namespace livebtl::hypervisor {

struct MigrateRequest {
  std::string qmp, agent;  // sockets
  std::string to;          // as QEMU's migrate takes it
  std::vector<std::string> cards;
  std::vector<Json> card_arguments;  // what somebody typed
  std::string destination_qmp, destination_agent;
  GuestJob guest;
  TimeNs timeout = 0;  // of all of it (budget.h)
  bool dry_run = false;

  bool has_destination() const noexcept { return !destination_qmp.empty(); }
};

Answer answer_of(const Error& error);
Answer answer_of(const Status& status);
class MigrateSteps {
 public:
  using Say = std::function<void(const std::string&)>;
  /// `stop`: somebody wants it back. `say`: is told how far the migration is.
  MigrateSteps(const MigrateRequest& request, const std::atomic<bool>& stop, Say say);

  Answer perform(Action action);

  const std::vector<Card>& cards() const noexcept { return cards_; }
  /// QEMU's own figures of the migration.
  const Json& figures() const noexcept { return figures_; }
  /// The name that orders in the guest are scoped to.
  Result<std::string> guest_name();

 private:
  Patience forward() const;  // ends with the time-out, or if somebody wants it back
  Patience afterwards();
  Patience plugging();
  Patience diagnosis() const;

  Result<Qmp*> source(const Patience& patience);
  Result<Qmp*> destination(const Patience& patience);
  Answer look_first();
  Status look_ahead(const Patience& patience);
  Answer look_for_hold(const Patience& patience);
  Answer look(const Patience& patience);
  Status look_at_cards(Qmp& qmp, const Patience& patience, Seen& seen);
  Answer look_back();
  Answer order(GuestAgent& agent, GuestOrder order);
  Answer unplug(std::size_t card);
  Answer begin();
  Answer follow();
  Answer cancel();
  Answer plug(std::size_t card);
  Answer arrive();
  Answer plug_there(std::size_t card);
  Answer on_source(const std::function<Status(Qmp&)>& act, const Patience& patience);
  Answer on_destination(const std::function<Status(Qmp&)>& act, const Patience& patience);
  Json given_arguments(const std::string& id) const;

  const MigrateRequest& request_;
  const std::atomic<bool>& stop_;
  Say say_;
  Budget budget_;
  bool going_back_ = false;
  bool plugged_in_ = false;  // a card, by us
  std::optional<Qmp> source_, destination_qmp_;
  GuestAgent agent_, destination_agent_;
  std::vector<Card> cards_;
  Json figures_ = Json::object();
};

}  // namespace livebtl::hypervisor
