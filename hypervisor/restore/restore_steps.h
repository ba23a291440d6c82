// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_steps.h -- the steps of set_steps.h that a restore alone takes. Used
// by btlctl's one thread.
#pragma once

#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

/// The exit code where a set cannot be loaded.
int code_of_load(Errc error) noexcept;

class RestoreSteps : public SetSteps {
 public:
  /// `set`: what is to be restored, with machines as the request has them, in any order.
  RestoreSteps(const SetRequest& request, const SetFile& set, const std::atomic<bool>& stop,
               Progress progress);

  std::string plug_line(const Card& card) const override { return plug_text(card); }

 private:
  Answer look() override;
  Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) override;
  Answer perform_own(Action action) override;
  Answer plug_in(Monitor& monitor, const Card& card) override { return plug(monitor, card); }

  Status look_at(std::size_t machine, Qmp& qmp, Observation& seen, const Deadline& deadline);
  Answer load(std::size_t machine);
  Status load(std::size_t machine, Qmp& qmp, const Deadline& deadline);

  std::vector<SavedMachine> saved_;  // in the request's order
};

}  // namespace livebtl::hypervisor
