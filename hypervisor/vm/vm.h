// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/vm.h -- one virtual machine, as the sequences of vm migrate, snapshot and restore act on
// it; hypervisor/qmp/ and hypervisor/libvirt/ implement it. Used by btlctl's one thread; a Vm owns its
// connections, which it opens when they are first needed, and opens anew after they broke.
//
// Errors of all calls: kNotFound: there is no such thing; kRefused: the hypervisor refused, in its own
// words; kTimeout, kCancelled: the deadline; kAuth; kDown: the hypervisor has ended, or is gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "hypervisor/vm/card.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// Is told what is being done and how far it is, for the user.
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
  bool waits = false;        // for memory that is to be loaded
  bool received = false;     // its memory was loaded, and has not been sent since
  MigrationState migration;  // kCompleted only if it is over, and its guest does not run here
};

/// Where a machine's memory goes to, or comes from: a file that is open for that.
struct MemoryFile {
  Fd descriptor;
  std::string path;  // absolute
};

/// What a plan names.
enum class VmAct { kUnplug, kPlug, kPlugAgain, kGoOn, kHalt, kSave, kLoad };

// Notes that a later call needs if this one is killed, kept in the hypervisor itself.
/// The note of the hold in which this machine is saved. No card's note has that name.
inline constexpr const char* kHoldNote = "livebtl.hold";

class Vm {
 public:
  virtual ~Vm() = default;
  Vm() = default;
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  virtual Result<VmState> look(const Deadline& deadline) = 0;
  /// Of the destination of a migration: kRefused: it cannot receive, and why.
  virtual Status look_ready(const Deadline& deadline) = 0;
  /// kRefused: its guest may write to a disk, which no snapshot of its memory has.
  virtual Status look_at_disks(const Deadline& deadline) = 0;
  virtual GuestAgent& agent() = 0;

  // Notes. keep_note() replaces an older one of this name; read_note(): "": there is none.
  virtual Status keep_note(const std::string& name, const std::string& text,
                           const Deadline& deadline) = 0;
  virtual Result<std::string> read_note(const std::string& name, const Deadline& deadline) = 0;
  virtual Status drop_note(const std::string& name, const Deadline& deadline) = 0;

  /// Whether the card is there, and its arguments; `given`: those that the user typed, else null. An error
  /// if neither is known; `hint`: what else helps the user then.
  virtual Result<Card> find_card(const std::string& id, const Json& given, const char* hint,
                                 const Deadline& deadline) = 0;
  virtual Result<bool> is_plugged(const Card& card, const Deadline& deadline) = 0;
  /// Has an earlier call noted how to plug it in, as pull_card() does?
  virtual Result<bool> was_pulled(const Card& card, const Deadline& deadline) = 0;
  /// Notes it, unplugs it, and waits until the guest has let it go; succeeds if it is gone already. If it is
  /// refused the card stays, and the note is deleted.
  virtual Status pull_card(const Card& card, const Deadline& deadline) = 0;
  /// Into a machine that has never had it; succeeds if it is there already.
  virtual Status plug_card(const Card& card, const Deadline& deadline) = 0;
  /// Into the machine that it was pulled from.
  virtual Status plug_card_again(const Card& card, const Deadline& deadline) = 0;
  /// The note of it.
  virtual Status forget_card(const Card& card, const Deadline& deadline) = 0;

  /// Until the guest runs; until it stands still.
  virtual Status go_on(const Deadline& deadline) = 0;
  virtual Status halt(const Deadline& deadline) = 0;

  /// `cards`: that were pulled.
  virtual Status begin_migration(const std::string& to, const std::vector<Card>& cards,
                                 const Deadline& deadline) = 0;
  /// Until it is decided. `state` is what was last seen of it, also after an error.
  virtual Status follow_migration(const Deadline& deadline, const Progress& progress,
                                  MigrationState& state) = 0;
  virtual Status cancel_migration(const Deadline& deadline) = 0;
  /// Of a migration that has failed, and whose guest runs here: what the destination still has of it, and how it is ended,
  /// when it has had until the deadline to take that away. "": nothing, or it cannot be asked.
  virtual std::string left_there(const Deadline& /*deadline*/) { return {}; }
  /// Of the way back: what was set for a migration is as it was.
  virtual Status reset_migration(const Deadline& deadline) = 0;
  /// Ends connections that are not needed for a while.
  virtual void rest() noexcept {}

  // Snapshots. Savings are as fast as they can be from prepare_saves() on, until settle_saves().
  virtual Status prepare_saves(const Deadline& deadline) = 0;
  virtual Status settle_saves(const Deadline& deadline) = 0;
  /// Writes the machine's memory; it stands still afterwards, or runs on.
  virtual Status save(MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
                      const Deadline& deadline) = 0;
  /// Gives up a save() that is under way; go_on() follows.
  virtual Status give_up_save(const Deadline& deadline) = 0;
  /// Until all is there; the machine stands still then. Goes on with a load() that is under way.
  virtual Status load(MemoryFile file, const Progress& progress, const Deadline& deadline) = 0;

  // For plans.
  /// What orders in the guest go through.
  virtual std::string agent_name() const = 0;
  virtual std::string name() const = 0;
  /// `card`: of the first three; `where`: to, or from.
  virtual std::string begin_words(const std::string& to, const std::vector<Card>& cards) const = 0;
  virtual std::string words_for(VmAct what, const Card* card, const std::string& where) const = 0;
};

/// How to reach a machine, as the user has named it. What of it counts depends on the hypervisor.
struct VmPlace {
  std::string
      monitor;        // QMP: a monitor's socket; libvirt: the URI of the daemon, "" for its default
  std::string agent;  // QMP: the guest agent's socket; "" if the user has named none
  std::string domain;  // libvirt: the machine's name

  bool empty() const noexcept { return monitor.empty() && domain.empty(); }
};

/// Reaches machines by one kind of hypervisor. Stateless, but for what its machines share.
class Hypervisor {
 public:
  virtual ~Hypervisor() = default;
  /// `there`: where the machine goes if it is migrated, nullptr: nowhere that is known; outlives it.
  virtual std::unique_ptr<Vm> reach(const VmPlace& place, Vm* there) const = 0;
  /// Orders to a guest can be given at this place.
  virtual bool has_agent(const VmPlace& place) const noexcept = 0;
};

}  // namespace livebtl::hypervisor
