// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_machine.h -- the order of steps that restores a set of snapshots.
// Pure: no socket, no clock; owns nothing but its own state.
//
// Load all, let all go on, and have the job say that their states fit together. If they do not, all
// machines that were let go on are stopped again: such a job is never continued. Otherwise the
// cards are plugged in, and the job returns.
#pragma once

#include "hypervisor/plan/sequence.h"

namespace livebtl::hypervisor {

class RestoreMachine : public Sequence {
 public:
  explicit RestoreMachine(std::vector<MachineNames> machines) : Sequence(std::move(machines)) {}
  std::unique_ptr<Sequence> clone() const override {
    return std::make_unique<RestoreMachine>(*this);
  }

  void answer(const Answer& answer) override;
  /// Has an effect only until the first machine is told to go on.
  void interrupt() override;

 private:
  void looked(const Answer& answer);
  void load_from(std::size_t machine);
  void go_on_from(std::size_t machine);
  void refused(const Answer& answer);
  void halt_from(std::size_t machine);
  void plug_from(std::size_t machine, std::size_t card);
  void over();

  std::vector<Observation> seen_;
  bool ran_ = false;  // all machines did, before this call
};

}  // namespace livebtl::hypervisor
