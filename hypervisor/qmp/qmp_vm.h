// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp_vm.h -- a machine that is a QEMU process whose monitor we have: see vm.h. Used
// by btlctl's one thread; owns its connection to the monitor.
#pragma once

#include <optional>

#include "hypervisor/qmp/qmp.h"
#include "hypervisor/qmp/socket_agent.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

class QmpVm : public Vm {
 public:
  explicit QmpVm(const VmPlace& place)
      : path_(place.monitor),
        agent_path_(place.agent),
        monitor_(place.monitor),
        agent_(place.agent) {}

  Result<VmState> look(const Deadline& deadline) override;
  Status look_ready(const Deadline& deadline) override;
  Status look_at_disks(const Deadline& deadline) override;
  GuestAgent& agent() override { return agent_; }

  Status keep_note(const std::string& name, const std::string& text,
                   const Deadline& deadline) override;
  Result<std::string> read_note(const std::string& name, const Deadline& deadline) override;
  Status drop_note(const std::string& name, const Deadline& deadline) override;

  Result<Card> find_card(const std::string& id, const Json& given, const char* hint,
                         const Deadline& deadline) override;
  Result<bool> is_plugged(const Card& card, const Deadline& deadline) override;
  Result<bool> was_pulled(const Card& card, const Deadline& deadline) override;
  Status pull_card(const Card& card, const Deadline& deadline) override;
  Status plug_card(const Card& card, const Deadline& deadline) override;
  Status plug_card_again(const Card& card, const Deadline& deadline) override;
  Status forget_card(const Card& card, const Deadline& deadline) override;

  Status go_on(const Deadline& deadline) override;
  Status halt(const Deadline& deadline) override;

  Status begin_migration(const std::string& to, const std::vector<Card>& cards,
                         const Deadline& deadline) override;
  Status follow_migration(const Deadline& deadline, const Progress& progress,
                          MigrationState& state) override;
  Status cancel_migration(const Deadline& deadline) override;
  Status reset_migration(const Deadline& deadline) override;
  void rest() noexcept override { monitor_.close(); }

  Status prepare_saves(const Deadline& deadline) override;
  Status settle_saves(const Deadline& deadline) override;
  Status save(MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
              const Deadline& deadline) override;
  Status give_up_save(const Deadline& deadline) override;
  Status load(MemoryFile file, const Progress& progress, const Deadline& deadline) override;

  std::string agent_name() const override { return agent_path_; }
  std::string name() const override { return path_; }
  std::string begin_words(const std::string& to, const std::vector<Card>& cards) const override;
  std::string words_for(VmAct what, const Card* card, const std::string& where) const override;

 private:
  Status act(const Monitor::Act& call, const Deadline& deadline) {
    return monitor_.run(call, deadline);
  }
  /// What `question` returns, or why it could not be asked.
  template <class Ask>
  auto ask(const Ask& question, const Deadline& deadline) {
    using Said = decltype(question(std::declval<Qmp&>(), deadline));
    std::optional<Said> answer;
    const Status asked = act(
        [&](Qmp& qmp, const Deadline& until) -> Status {
          answer.emplace(question(qmp, until));
          return *answer ? Status() : tl::unexpected(answer->error());
        },
        deadline);
    return asked ? std::move(*answer) : Said(tl::unexpected(asked.error()));
  }
  Result<std::optional<std::uint64_t>> bandwidth_before(Qmp& qmp, const Deadline& deadline);

  std::string path_, agent_path_;
  Monitor monitor_;
  SocketAgent agent_;
};

/// Reaches machines by the sockets of their QEMUs.
class QmpHypervisor : public Hypervisor {
 public:
  std::unique_ptr<Vm> reach(const VmPlace& place, Vm*) const override {
    return std::make_unique<QmpVm>(place);
  }
  bool has_agent(const VmPlace& place) const noexcept override { return !place.agent.empty(); }
};

}  // namespace livebtl::hypervisor
