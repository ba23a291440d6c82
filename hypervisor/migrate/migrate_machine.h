// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_machine.h -- the order of a migration's steps, and of the way back.
// Pure: no socket, no clock; owns nothing but its own state.
//
// The point of no return is the completed migration. Before it, any failure leads back to the old
// state; after it, the job stays on what it has, and the user is told what is left to do.
#pragma once

#include "hypervisor/plan/sequence.h"

namespace livebtl::hypervisor {

class MigrateMachine : public Sequence {
 public:
  /// `destination`: the receiving machine, and the guest's agent there, can be reached.
  MigrateMachine(std::vector<std::string> cards, bool destination)
      : Sequence({{"", std::move(cards)}}), destination_(destination) {}
  std::unique_ptr<Sequence> clone() const override {
    return std::make_unique<MigrateMachine>(*this);
  }

  void answer(const Answer& answer) override;
  void interrupt() override;

  /// The point of no return is passed.
  bool moved() const noexcept { return moved_; }

 private:
  void looked(const Answer& answer);
  void prepared(const Answer& answer);
  void unplugged(const Answer& answer);
  void began(const Answer& answer);
  void followed(const Answer& answer);
  void looked_back(const Answer& answer);
  void undid(const Answer& answer);
  void taken_back();
  void done_there(const Answer& answer);

  void go_back(const Answer& why, int code);
  void unplug_from(std::size_t card);
  void plug_from(std::size_t card);
  void arrive();
  void there_from(std::size_t card);
  void left_open(const std::string& why);
  void returned_there();

  bool destination_;
  bool begun_ = false;  // the migration
  bool moved_ = false;
  bool has_job_ = true;
  std::string absent_;
  std::string left_there_;
  bool cancelling_ = false;  // because of cancel_why_
  Answer cancel_why_;
  bool interrupted_ = false;
};

}  // namespace livebtl::hypervisor
