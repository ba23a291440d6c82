// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.h -- the steps of set_steps.h that a snapshot alone takes.
// Used by btlctl's one thread.
#pragma once

#include <map>

#include "hypervisor/set/set_steps.h"

namespace livebtl::hypervisor {

inline constexpr const char* kBandwidth = "max-bandwidth";  // in QEMU, and in our note of it

class SnapshotSteps : public SetSteps {
 public:
  using SetSteps::SetSteps;

  std::string plug_line(const Card& card) const override { return plug_again_text(card); }

 private:
  using Steps::unplug;

  Answer look() override;
  Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) override;
  Answer perform_own(Action action) override;
  Answer plug_in(Monitor& monitor, const Card& card) override { return plug_again(monitor, card); }

  Answer look_at_set(Answer seen);
  Status find_cards(std::size_t machine, Qmp& qmp, Observation& seen, const Deadline& deadline);
  Status read_claim(std::size_t machine, Qmp& qmp, Observation& seen, const Deadline& deadline);
  Answer claim();
  Status claim(std::size_t machine, Qmp& qmp, const Deadline& deadline);
  Status put_bandwidth_back(std::size_t machine, Qmp& qmp);
  Answer unplug(Action action);
  Answer save(std::size_t machine);
  Status save(std::size_t machine, Qmp& qmp, const Deadline& deadline);
  Answer go_on(Action action);
  Answer check(bool back);
  Answer end_hold(bool back);
  Answer seal();
  Answer forget();

  std::vector<std::string> holds_;                  // that QEMUs knew of when they were looked at
  std::map<std::size_t, std::uint64_t> bandwidth_;  // by machine: what it was before we lifted it
  bool hold_open_ = false;                          // it could not be ended
};

}  // namespace livebtl::hypervisor
