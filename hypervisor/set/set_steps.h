// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_steps.h -- the steps that snapshot and restore of a set of machines share: by
// a machine, by a guest's agent or in the set's directory, each with its own deadline. Used by
// btlctl's one thread; owns the machines, borrows the request.
#pragma once

#include "hypervisor/plan/steps.h"
#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

inline constexpr TimeNs kLeaseMargin = 30 * kSecond;  // for everything but the saving itself
inline constexpr TimeNs kLeaseMin = 2 * kLeaseMargin;

struct MachinePlace {
  std::string name;
  VmPlace place;
  std::vector<std::string> cards;
};

struct SetRequest {
  const Hypervisor* hypervisor = nullptr;  // outlives it
  std::string directory;
  std::vector<MachinePlace> machines;
  GuestJob guest;
  TimeNs lease = 0;    // of the hold
  TimeNs timeout = 0;  // of the whole command (Budget)
  bool ignores_disks = false;
  bool dry_run = false;

  std::vector<std::string> names() const;
  std::vector<MachineNames> machine_names() const;
  /// The first machine with an agent; its guest passes orders to the job.
  std::size_t speaker() const noexcept;
};

class SetSteps : public Steps {
 public:
  SetSteps(const SetRequest& request, const std::atomic<bool>& stop, Progress progress);

  Answer perform(Action action) override;

  const std::vector<Card>& cards(std::size_t machine) const { return machines_[machine].cards; }
  const Vm& vm(std::size_t machine) const { return *machines_[machine].vm; }
  const std::string& hold() const noexcept { return hold_; }
  /// How a card is plugged in, as a plan shows it.
  virtual std::string plug_line(const Vm& vm, const Card& card) const = 0;

 protected:
  struct Machine {
    std::unique_ptr<Vm> vm;
    std::vector<Card> cards = {};
  };

  virtual Answer look() = 0;
  virtual Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) = 0;
  virtual Answer plug_in(Vm& vm, const Card& card) = 0;
  /// The steps that only one of the two takes.
  virtual Answer perform_own(Action action) = 0;

  /// What is seen of all machines, or why the first look that failed did so.
  Answer look_at_each();
  std::string speaker_name() const { return request_.machines[request_.speaker()].name; }
  GuestAgent& agent() { return machines_[request_.speaker()].vm->agent(); }
  /// Runs it in the speaker's guest; not interrupted, but with its own time-out. `limit`: as in
  /// tries_until(); `end`: when to stop waiting for an answer.
  Answer give(const Verb& verb, TimeNs limit, TimeNs end = kNever);
  /// Orders the whole job.
  Answer order(GuestOrder order);
  Answer read(const Result<GuestAnswer>& said);

  const SetRequest& request_;
  std::vector<Machine> machines_;
  SetDirectory directory_;
  std::string hold_;  // its id
  std::uint64_t members_ = 0;
};

}  // namespace livebtl::hypervisor
