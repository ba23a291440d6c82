// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.h -- the steps of set_steps.h that only a snapshot takes.
// Used by btlctl's one thread.
#pragma once

#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

class SnapshotSteps : public SetSteps {
 public:
  using SetSteps::SetSteps;

  std::string plug_line(const Vm& vm, const Card& card) const override {
    return vm.words_for(VmAct::kPlugAgain, &card, "");
  }

 private:
  using Steps::unplug;

  Answer look() override;
  Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) override;
  Answer perform_own(Action action) override;
  Answer plug_in(Vm& vm, const Card& card) override { return plug_again(vm, card); }

  Answer look_at_set(Answer seen);
  Status inspect(std::size_t machine, Observation& seen, const Deadline& deadline);
  Status find_cards(std::size_t machine, Observation& seen, const Deadline& deadline);
  Status read_claim(std::size_t machine, Observation& seen, const Deadline& deadline);
  Answer claim();
  Status claim(Vm& vm, const Deadline& deadline);
  Answer unplug(Action action);
  Answer save(std::size_t machine);
  Status save(std::size_t machine, const Deadline& deadline);
  Answer go_on(Action action);
  Answer check(bool back);
  Answer end_hold(bool back);
  Answer seal();
  Answer forget();

  std::vector<std::string> holds_;  // as noted in the hypervisors at the last look
  bool hold_open_ = false;          // the hold could not be ended
};

}  // namespace livebtl::hypervisor
