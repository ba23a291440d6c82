// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/vm.h -- one virtual machine, as the sequences of vm migrate, snapshot and restore
// act on it; hypervisor/qmp/ and hypervisor/libvirt/ implement it. Used by btlctl's one thread; a
// Vm owns its connections, opens them when first needed, and reopens them after they break.
//
// Errors of all calls: kNotFound: there is no such thing; kRefused: the hypervisor refused, in its
// own words; kTimeout, kCancelled: the deadline; kAuth; kDown: the hypervisor has ended, or is
// gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "hypervisor/vm/card.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// Called with what is being done and how far it has got, for the user.
using Progress = std::function<void(const std::string&)>;

enum class Migration { kNone, kActive, kCompleted, kFailed };

struct MigrationState {
  Migration migration = Migration::kNone;
  std::string why;                // for the user
  Json figures = Json::object();  // the hypervisor's own
};

/// Where a machine and its last migration stand, seen at one moment.
struct VmState {
  std::string word;  // the hypervisor's own, for the user
  bool running = false;
  bool sent = false;         // it stands still, or is gone, because its memory was sent somewhere
  bool waits = false;        // for its memory to be loaded
  bool received = false;     // its memory was loaded, and has not been sent since
  MigrationState migration;  // kCompleted only if it is over, and its guest does not run here
};

/// An open file that a machine's memory is written to or read from.
struct MemoryFile {
  Fd descriptor;
  std::string path;  // absolute
};

/// The actions that a plan names.
enum class VmAct { kUnplug, kPlug, kPlugAgain, kGoOn, kHalt, kSave, kLoad };

// Notes that a later call needs if this one is killed, kept in the hypervisor itself.
/// The note of the hold during which this machine is saved. No card's note has this name.
inline constexpr const char* kHoldNote = "livebtl.hold";

class Vm {
 public:
  virtual ~Vm() = default;
  Vm() = default;
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  virtual Result<VmState> look(const Deadline& deadline) = 0;
  /// For the destination of a migration. kRefused: it cannot receive, and why.
  virtual Status look_ready(const Deadline& deadline) = 0;
  /// kRefused: its guest may write to a disk, which a snapshot of its memory does not contain.
  virtual Status look_at_disks(const Deadline& deadline) = 0;
  virtual GuestAgent& agent() = 0;

  // Notes. keep_note() replaces an older one of that name; read_note() returns "" if there is none.
  virtual Status keep_note(const std::string& name, const std::string& text,
                           const Deadline& deadline) = 0;
  virtual Result<std::string> read_note(const std::string& name, const Deadline& deadline) = 0;
  virtual Status drop_note(const std::string& name, const Deadline& deadline) = 0;

  /// Whether the card is there, and its arguments; `given`: those that the user typed, else null.
  /// An error if it is not there and its arguments are unknown; `hint`: added to its text.
  virtual Result<Card> find_card(const std::string& id, const Json& given, const char* hint,
                                 const Deadline& deadline) = 0;
  virtual Result<bool> is_plugged(const Card& card, const Deadline& deadline) = 0;
  /// Whether an earlier call noted how to plug it in, as pull_card() does.
  virtual Result<bool> was_pulled(const Card& card, const Deadline& deadline) = 0;
  /// Notes how to plug it in, unplugs it, and waits until the guest has given it up; succeeds if it
  /// is gone already. On kRefused the card stays and the note is deleted.
  virtual Status pull_card(const Card& card, const Deadline& deadline) = 0;
  /// Plugs it into a machine that has never had it; succeeds if it is there already.
  virtual Status plug_card(const Card& card, const Deadline& deadline) = 0;
  /// Plugs it back into the machine that it was pulled from.
  virtual Status plug_card_again(const Card& card, const Deadline& deadline) = 0;
  /// Deletes its note.
  virtual Status forget_card(const Card& card, const Deadline& deadline) = 0;

  /// go_on() returns once the guest runs, halt() once it stands still.
  virtual Status go_on(const Deadline& deadline) = 0;
  virtual Status halt(const Deadline& deadline) = 0;

  /// `cards`: those that were pulled.
  virtual Status begin_migration(const std::string& to, const std::vector<Card>& cards,
                                 const Deadline& deadline) = 0;
  /// Returns once its outcome is known. `state` is what was last seen of it, even after an error.
  virtual Status follow_migration(const Deadline& deadline, const Progress& progress,
                                  MigrationState& state) = 0;
  virtual Status cancel_migration(const Deadline& deadline) = 0;
  /// After a failed migration whose guest runs here: what the destination still has of it, and how
  /// to end that. It has until the deadline to clean up by itself. "": nothing, or it cannot be
  /// asked.
  virtual std::string left_there(const Deadline& /*deadline*/) { return {}; }
  /// On the way back: undoes what was set for a migration.
  virtual Status reset_migration(const Deadline& deadline) = 0;
  /// Closes connections that are not needed for a while.
  virtual void rest() noexcept {}

  // Snapshots. Between prepare_saves() and settle_saves() saving is as fast as it can be.
  virtual Status prepare_saves(const Deadline& deadline) = 0;
  virtual Status settle_saves(const Deadline& deadline) = 0;
  /// Writes the machine's memory; the machine stands still afterwards, or runs on.
  virtual Status save(MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
                      const Deadline& deadline) = 0;
  /// Gives up a save() that is under way; go_on() follows.
  virtual Status give_up_save(const Deadline& deadline) = 0;
  /// Returns once all is loaded; the machine then stands still. Continues a load() under way.
  virtual Status load(MemoryFile file, const Progress& progress, const Deadline& deadline) = 0;

  // For plans.
  /// What carries orders to the guest.
  virtual std::string agent_name() const = 0;
  virtual std::string name() const = 0;
  /// `card`: for the first three acts; `where`: the file to save to or load from.
  virtual std::string begin_words(const std::string& to, const std::vector<Card>& cards) const = 0;
  virtual std::string words_for(VmAct what, const Card* card, const std::string& where) const = 0;
};

/// How to reach a machine, as the user named it. Which fields count depends on the hypervisor.
struct VmPlace {
  std::string
      monitor;        // QMP: a monitor's socket; libvirt: the URI of the daemon, "" for its default
  std::string agent;  // QMP: the guest agent's socket; "" if the user has named none
  std::string domain;  // libvirt: the machine's name

  bool empty() const noexcept { return monitor.empty() && domain.empty(); }
};

/// Reaches machines through one kind of hypervisor. Stateless, except for what its machines share.
class Hypervisor {
 public:
  virtual ~Hypervisor() = default;
  /// `there`: where the machine goes if it is migrated, nullptr if unknown; outlives the Vm.
  virtual std::unique_ptr<Vm> reach(const VmPlace& place, Vm* there) const = 0;
  /// Whether orders can be given to the guest at this place.
  virtual bool has_agent(const VmPlace& place) const noexcept = 0;
};

}  // namespace livebtl::hypervisor
