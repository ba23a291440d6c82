// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_machine.h -- the order in which a set of snapshots is restored. Pure:
// no socket, no clock. Used by whoever does it (set_vms.cc) and by tests; owns nothing but its own
// state.
//
// Load all, let all go on, and have the job say that it fits together. If it does not, all machines
// that were let go on are stopped again: it is never continued. Then cards are plugged in, and the
// job returns.
#pragma once

#include "hypervisor/set/set_action.h"

namespace livebtl::hypervisor {

class RestoreMachine {
 public:
  explicit RestoreMachine(std::vector<MachineNames> machines);

  SetAction next() const noexcept { return next_; }
  void answer(const SetAnswer& answer);
  /// Heard until the first machine is told to go on.
  void interrupt();

  const SetEnd& end() const noexcept { return end_; }

 private:
  void looked(const SetAnswer& answer);
  void load_from(std::size_t machine);
  void go_on_from(std::size_t machine);
  void refused(const SetAnswer& answer);
  void halt_from(std::size_t machine);
  void plug_from(std::size_t machine, std::size_t card);
  void finish(int code, std::string text);
  void left(const SetAnswer& answer);
  void over();

  std::vector<MachineNames> machines_;
  SetAction next_{SetDo::kLook};
  std::vector<MachineSeen> seen_;
  bool ran_ = false;  // all of them, before we came
  SetEnd end_;
};

}  // namespace livebtl::hypervisor
