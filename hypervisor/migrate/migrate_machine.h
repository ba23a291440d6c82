// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_machine.h -- the order of a migration, and of the way back: what is to
// be done next, given how everything before has gone. Pure: no socket, no clock. Used by whoever
// does it (migrate_vm.cc) and by tests; owns nothing but its own state.
//
// The point of no return is a completed migration: left of it each failure goes back to what was,
// right of it the job stays on what it has, and it is said what is left to do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hypervisor/qmp/migration.h"

namespace livebtl::hypervisor {

enum class Do {
  kLook,         // where do cards and migration stand?
  kPrepare,      // in the guest: leave what cannot migrate
  kUnplug,       // a card
  kMigrate,      // begin
  kFollow,       // until it is decided
  kCancel,       // ask for it to be given up
  kLookBack,     // on the way back: which cards are gone?
  kGoOn,         // the guest, here
  kPlug,         // a card, here
  kReturn,       // in the guest, here
  kArrive,       // until the guest runs there
  kPlugThere,    // a card
  kReturnThere,  // in the guest, there
  kEnd
};
const char* name_of(Do what) noexcept;

struct Action {
  Do what = Do::kEnd;
  std::size_t card = 0;  // of kUnplug, kPlug, kPlugThere
};

struct Seen {
  bool running = false;  // the guest
  Migration migration = Migration::kNone;
  std::vector<bool> plugged;  // by card
  bool has_job = true;        // the guest; of kPrepare, kReturnThere
  bool pulled = false;        // a card that is gone, by us: QEMU has our note of it
  std::string absent = {};    // of kReturn: what the job would return to, and why it does not yet
};

struct Answer {
  Went went = Went::kWell;
  int code = kCodeDone;  // of kFailed in kLook and kPrepare: the exit code that follows
  std::string text;      // of everything but kWell
  Seen seen;  // of kLook, kLookBack; of kFollow only the migration; else: has_job, absent
};

struct MigrateEnd {
  int code = kCodeDone;
  std::string text;
  bool moved = false;
  std::vector<std::string> left;  // what somebody has to do by hand
};

class MigrateMachine {
 public:
  /// `destination`: somebody can be asked there.
  MigrateMachine(std::vector<std::string> cards, bool destination);

  /// What is to be done; kEnd: nothing any more.
  Action next() const noexcept { return next_; }
  /// How that went.
  void answer(const Answer& answer);
  /// Somebody wants his machine back. Right of the point of no return nobody hears it.
  void interrupt();

  bool can_go_back() const noexcept { return next_.what <= Do::kFollow && !cancelling_; }
  const MigrateEnd& end() const noexcept { return end_; }

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

  void finish(int code, std::string text);
  void go_back(const Answer& why, int code);
  void unplug_from(std::size_t card);
  void plug_from(std::size_t card);
  void moved();
  void there_from(std::size_t card);
  void left_open(const std::string& why);
  void returned_there();

  std::vector<std::string> cards_;
  bool destination_;
  Action next_{Do::kLook, 0};
  std::vector<bool> plugged_;
  bool begun_ = false;  // the migration
  bool has_job_ = true;
  std::string absent_;
  bool cancelling_ = false;  // and why:
  Answer cancel_why_;
  bool interrupted_ = false;
  MigrateEnd end_;
};

}  // namespace livebtl::hypervisor
