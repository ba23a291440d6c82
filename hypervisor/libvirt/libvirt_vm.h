// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/libvirt_vm.h -- a machine that is a libvirt domain: see vm.h, and
// docs/adr/0064 for how its calls are made of libvirt's. Used by btlctl's one thread; shares its
// connection with late calls (connection.h).
//
// Notes are in the live domain's metadata: they go with it to another host, and into a file of its
// memory.
#pragma once

#include "hypervisor/libvirt/connection.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

/// The note of a domain that was loaded from a set: libvirt does not remember where it came from.
inline constexpr const char* kLoadedNote = "livebtl.loaded";

/// What was read about a domain at one moment.
struct DomainSeen {
  bool there = false;   // libvirt knows it
  bool active = false;  // it has a QEMU
  int state = 0, reason = 0;
  bool persistent = false;
  bool busy = false;  // with a job: a migration, a save
  Json figures = Json::object();
};

inline bool is_starting_up(const DomainSeen& seen) noexcept {
  return seen.active && seen.state == VIR_DOMAIN_PAUSED &&
         seen.reason == VIR_DOMAIN_PAUSED_STARTING_UP;
}

class LibvirtVm : public Vm {
 public:
  /// `there`: where it goes if it is migrated; nullptr if unknown.
  LibvirtVm(std::shared_ptr<const Libvirt> libvirt, const VmPlace& place, LibvirtVm* there);

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
  Status plug_card_again(const Card& card, const Deadline& deadline) override {
    return plug_card(card, deadline);
  }
  Status forget_card(const Card& card, const Deadline& deadline) override;

  Status go_on(const Deadline& deadline) override;
  Status halt(const Deadline& deadline) override;

  Status begin_migration(const std::string& to, const std::vector<Card>& cards,
                         const Deadline& deadline) override;
  Status follow_migration(const Deadline& deadline, const Progress& progress,
                          MigrationState& state) override;
  Status cancel_migration(const Deadline& deadline) override;
  std::string left_there(const Deadline& deadline) override;
  Status reset_migration(const Deadline&) override { return {}; }

  // libvirt itself raises the bandwidth when memory goes to a file, and restores it.
  Status prepare_saves(const Deadline&) override { return {}; }
  Status settle_saves(const Deadline&) override { return {}; }
  Status save(MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
              const Deadline& deadline) override;
  Status give_up_save(const Deadline& deadline) override;
  Status load(MemoryFile file, const Progress& progress, const Deadline& deadline) override;

  std::string agent_name() const override { return "libvirt (domain " + name_ + ")"; }
  std::string name() const override { return uri_.empty() ? "libvirt" : uri_; }
  std::string begin_words(const std::string& to, const std::vector<Card>& cards) const override;
  std::string words_for(VmAct what, const Card* card, const std::string& where) const override;

 private:
  /// The guest's agent, through libvirt.
  class Agent : public GuestAgent {
   public:
    explicit Agent(LibvirtVm& vm) : vm_(vm) {}
    Result<Json> request(const std::string& command, const Json& arguments,
                         const Deadline& deadline) override;

   private:
    LibvirtVm& vm_;
  };

  using OnConnection = std::function<Status(const Connection&)>;
  /// Runs in another thread: owns everything that it touches.
  using OnDomain = std::function<Status(const LibvirtCalls&, virDomainPtr)>;
  Result<std::shared_ptr<Connection>> connection(const Deadline& deadline);
  Status on_connection(OnConnection call, const std::string& what, const Deadline& deadline);
  /// kNotFound: there is no such domain.
  Status on_domain(OnDomain call, const std::string& what, const Deadline& deadline);
  /// Begins the call without waiting for it.
  Result<PendingCall> begin(OnConnection call, const Deadline& deadline);
  OnConnection with_domain(OnDomain call) const;

  Result<DomainSeen> see(const Deadline& deadline);
  /// What to do about this domain, which is in the way of a guest of its name.
  std::string in_the_way(const DomainSeen& seen) const;
  /// Whether it runs, or stands still, at the destination, and not here.
  Result<bool> has_moved(const DomainSeen& seen, const Deadline& deadline);
  Result<std::string> xml(const Deadline& deadline);
  Result<bool> is_loaded(const DomainSeen& seen, const Deadline& deadline);
  Result<Json> noted_card(const std::string& id, const Deadline& deadline);
  Result<Card> find_here(const std::string& id, const Json& given, const Deadline& deadline);
  Status stays(const Card& card, Error why, const Deadline& deadline);
  Status detach(const Card& card, const Deadline& deadline);
  Status mark_loaded(const Deadline& deadline);
  void figures_there(MigrationState& state, const Deadline& deadline);

  std::shared_ptr<const Libvirt> libvirt_;
  std::string uri_, name_;
  LibvirtVm* there_;
  Agent agent_;
  std::shared_ptr<Connection> connection_;
  std::optional<PendingCall> migration_;  // begun by this process
};

/// Reaches machines by their names in libvirt.
class LibvirtHypervisor : public Hypervisor {
 public:
  explicit LibvirtHypervisor(const LibvirtCalls& calls)
      : libvirt_(std::make_shared<const Libvirt>(calls)) {}
  std::unique_ptr<Vm> reach(const VmPlace& place, Vm* there) const override;
  bool has_agent(const VmPlace&) const noexcept override { return true; }

 private:
  std::shared_ptr<const Libvirt> libvirt_;
};

}  // namespace livebtl::hypervisor
