// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_machine.h -- the order in which the processes of a job are dumped by CRIU, and restored. Pure: no
// process, no clock; owns nothing but its own state.
//
// Dump: prepare, hold, save, and, if the processes go on, check; then seal. A failure leads back: the job goes on as it
// was, and there is no set. CRIU ends the processes as the last thing it does in save, unless they are to go on.
// Restore: load, have the job say that it is whole, and return. If it is not, its processes are ended again.
#pragma once

#include "hypervisor/plan/sequence.h"

namespace livebtl::hypervisor {

class DumpMachine : public Sequence {
 public:
  /// `goes_on`: the processes do, once they are dumped.
  DumpMachine(const std::string& node, bool goes_on)
      : Sequence({MachineNames{node, {}}}), goes_on_(goes_on) {}
  std::unique_ptr<Sequence> clone() const override { return std::make_unique<DumpMachine>(*this); }

  void answer(const Answer& answer) override;
  /// Has an effect until the processes are ended, or the set is sealed.
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
  bool decided_ = false;  // no way back any more
  bool back_ = false;     // on the way back
};

class RestartMachine : public Sequence {
 public:
  explicit RestartMachine(const std::string& node) : Sequence({MachineNames{node, {}}}) {}
  std::unique_ptr<Sequence> clone() const override {
    return std::make_unique<RestartMachine>(*this);
  }

  void answer(const Answer& answer) override;
  /// Has an effect until the processes are there.
  void interrupt() override;
};

}  // namespace livebtl::hypervisor
