// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_steps.h -- does what snapshot_machine.h and restore_machine.h decide: each
// step by a QEMU's monitor, a guest's agent or in the set's directory, with its own deadline. Used
// by btlctl's one thread; owns the connections, borrows the request.
#pragma once

#include <optional>

#include "hypervisor/plan/budget.h"
#include "hypervisor/qmp/guest_job.h"
#include "hypervisor/qmp/migration.h"
#include "hypervisor/set/set_action.h"
#include "hypervisor/set/set_directory.h"

namespace livebtl::hypervisor {

inline constexpr TimeNs kLeaseMargin = 30 * kSecond;  // for all but the saving itself
inline constexpr TimeNs kLeaseMin = 2 * kLeaseMargin;
/// What a monitor calls the descriptor of the file that a machine's state goes to or comes from.
inline constexpr const char* kStateDescriptor = "livebtl";
inline constexpr const char* kStateUri = "fd:livebtl";

struct MachinePlace {
  std::string name;
  std::string qmp, agent;  // sockets; agent: "" if it has none for us
  std::vector<std::string> cards;
};

struct SetRequest {
  std::string directory;
  std::vector<MachinePlace> machines;
  GuestJob guest;
  TimeNs lease = 0;    // of the hold
  TimeNs timeout = 0;  // of all of it (budget.h)
  bool ignores_disks = false;
  bool dry_run = false;

  std::vector<std::string> names() const;
  /// The first whose guest can be told something.
  std::size_t speaker() const noexcept;
};

/// The exit code where a set cannot be loaded.
int code_of_load(Errc error) noexcept;
SetAnswer set_answer_of(const Status& status);
SetAnswer set_answer_of(const Error& error);

class SetSteps {
 public:
  using Say = std::function<void(const std::string&)>;
  /// `stop`: somebody wants it back. `say`: is told how far a machine is.
  SetSteps(const SetRequest& request, const std::atomic<bool>& stop, Say say);
  virtual ~SetSteps() = default;
  SetSteps(const SetSteps&) = delete;
  SetSteps& operator=(const SetSteps&) = delete;

  SetAnswer perform(SetAction action);

  const std::vector<Card>& cards(std::size_t machine) const { return machines_[machine].cards; }
  const std::string& hold() const noexcept { return hold_; }
  /// As a plan shows it: how a card is plugged in.
  virtual std::string plug_line(const Card& card) const = 0;

 protected:
  struct Machine {
    std::optional<Qmp> qmp;
    std::vector<Card> cards;
    std::optional<std::uint64_t> bandwidth;  // that QEMU was allowed before, as its note says
  };

  virtual SetAnswer look() = 0;
  /// What only one of the two does.
  virtual SetAnswer perform_own(SetAction action) = 0;
  virtual Status plug(Qmp& qmp, const Card& card) = 0;

  Patience forward() const;        // ends with the time-out, or if somebody wants it back
  Patience uninterrupted() const;  // ... only with the time-out
  Patience afterwards();
  Patience plugging();
  Patience diagnosis() const;
  SetAnswer on(std::size_t machine, const std::function<Status(Qmp&)>& act,
               const Patience& patience);
  /// In the speaker's guest; not to be interrupted, but it has its own time-out.
  SetAnswer give(const Verb& verb);
  /// ... with which the way back begins.
  SetAnswer give_afterwards(const Verb& verb);
  /// ... on the way back, of which nothing depends on the answer.
  SetAnswer give_briefly(const Verb& verb);
  SetAnswer order(GuestOrder order);
  SetAnswer read(const Result<GuestAnswer>& said);
  Status answers(const MachinePlace& place, const Patience& patience) const;

  const SetRequest& request_;
  const std::atomic<bool>& stop_;
  Say say_;
  Budget budget_;
  bool plugged_in_ = false;  // a card, by us
  std::vector<Machine> machines_;
  GuestAgent agent_;
  SetDirectory directory_;
  std::string hold_;  // its id
  std::uint64_t members_ = 0;

 private:
  SetAnswer plug(SetAction action);
};

}  // namespace livebtl::hypervisor
