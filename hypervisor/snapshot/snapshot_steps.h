// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.h -- the steps of set_steps.h that a snapshot alone takes.
// Used by btlctl's one thread.
#pragma once

#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

inline constexpr const char* kBandwidth = "max-bandwidth";  // in QEMU, and in our note of it

class SnapshotSteps : public SetSteps {
 public:
  using SetSteps::SetSteps;

  std::string plug_line(const Card& card) const override { return plug_again_text(card); }

 private:
  SetAnswer look() override;
  SetAnswer perform_own(SetAction action) override;
  Status plug(Qmp& qmp, const Card& card) override;

  SetAnswer look_at_set(SetAnswer seen);
  SetAnswer look_at(std::size_t machine, MachineSeen& seen, const Patience& patience);
  Status find_cards(std::size_t machine, Qmp& qmp, MachineSeen& seen, const Patience& patience);
  Status read_claim(std::size_t machine, Qmp& qmp, MachineSeen& seen, const Patience& patience);
  SetAnswer claim();
  Status claim(Machine& machine, Qmp& qmp, const Patience& patience);
  Status put_bandwidth_back(Machine& machine, Qmp& qmp);
  SetAnswer unplug(SetAction action);
  SetAnswer save(std::size_t machine);
  Status save(std::size_t machine, Qmp& qmp, const Patience& patience);
  SetAnswer go_on(SetAction action);
  SetAnswer end_hold(bool back);
  SetAnswer seal();
  SetAnswer forget();

  std::vector<std::string> holds_;  // that QEMUs knew of when they were looked at
  bool hold_open_ = false;          // it could not be ended
};

}  // namespace livebtl::hypervisor
