// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_machine.h -- the order of steps in which CRIU dumps and restores the
// processes of a job. Pure: no process, no clock; owns nothing but its own state.
//
// Dump: prepare, hold, save, and, if the processes go on, check; then seal. A failure leads back:
// the job goes on as before, and there is no set. As its last act in save, CRIU ends the processes,
// unless they are to go on.
// Restore: load, have the job say that it is whole, and return. If it is not, its processes are
// ended again.
#pragma once

#include "hypervisor/plan/sequence.h"

namespace livebtl::hypervisor {

class DumpMachine : public Sequence {
 public:
  /// `goes_on`: the processes go on once they are dumped.
  DumpMachine(const std::string& node, bool goes_on)
      : Sequence({MachineNames{node, {}}}), goes_on_(goes_on) {}
  std::unique_ptr<Sequence> clone() const override { return std::make_unique<DumpMachine>(*this); }

  void answer(const Answer& answer) override;
  /// Has an effect only until the processes are ended, or the set is sealed.
  void interrupt() override;

 private:
  void forward();
  void note_work();
  void failed(const Answer& answer);
  void failed_after_dump(const Answer& answer);
  void go_back(int code, std::string text);
  void next_back();

  bool goes_on_;
  bool held_ = false, prepared_ = false, claimed_ = false;
  bool decided_ = false;  // there is no way back
  bool back_ = false;     // on the way back
};

class RestartMachine : public Sequence {
 public:
  explicit RestartMachine(const std::string& node) : Sequence({MachineNames{node, {}}}) {}
  std::unique_ptr<Sequence> clone() const override {
    return std::make_unique<RestartMachine>(*this);
  }

  void answer(const Answer& answer) override;
  /// Has an effect only until the processes are restored.
  void interrupt() override;
};

}  // namespace livebtl::hypervisor
