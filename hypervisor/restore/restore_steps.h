// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_steps.h -- the steps of set_steps.h that a restore alone takes. Used
// by btlctl's one thread.
#pragma once

#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

class RestoreSteps : public SetSteps {
 public:
  /// `set`: what is to be restored, with machines as the request has them, in any order.
  RestoreSteps(const SetRequest& request, const SetFile& set, const std::atomic<bool>& stop,
               Say say);

  std::string plug_line(const Card& card) const override { return plug_text(card); }

 private:
  SetAnswer look() override;
  SetAnswer perform_own(SetAction action) override;
  Status plug(Qmp& qmp, const Card& card) override;

  Status look_at(std::size_t machine, Qmp& qmp, MachineSeen& seen, const Patience& patience);
  SetAnswer load(std::size_t machine);
  SetAnswer go_on(std::size_t machine);
  Status load(std::size_t machine, Qmp& qmp, const Patience& patience);

  std::vector<SavedMachine> saved_;  // in the request's order
};

}  // namespace livebtl::hypervisor
