// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_steps.h -- the steps of criu_machine.h, which run programs and write and
// read the set's directory. Used by btlctl's one thread; borrows the request.
#pragma once

#include "hypervisor/criu/criu_job.h"
#include "hypervisor/criu/criu_words.h"
#include "hypervisor/criu/process_tree.h"

namespace livebtl::hypervisor {

/// The exit code when a set, or a file of it, is not as it should be.
inline int code_of_set(Errc error) noexcept {
  return error == Errc::kCorrupt ? kCodeInconsistent : code_of(error);
}

class CriuSteps : public Steps {
 public:
  const std::string& hold() const noexcept { return hold_; }
  /// The job that orders are for: once found, that job alone, whatever other jobs there are.
  const GuestJob& told() const noexcept { return told_; }

 protected:
  CriuSteps(const CriuRequest& request, const std::string& node, const std::atomic<bool>& stop,
            Progress progress);
  CriuSteps(const CriuRequest& request, std::vector<std::string> nodes, const SetForm& form,
            const std::atomic<bool>& stop, Progress progress);

  /// Runs btlctl here. It has its own time-out, and is not interrupted.
  Answer order(const Verb& verb, const Deadline& deadline);
  /// Runs CRIU or tar; `log`: CRIU's, in the images' directory, which tells the error. Not
  /// interrupted.
  Answer run(const Words& words, const Deadline& deadline, const std::string& log = "");
  /// The same, but never told to end: only when CRIU ends by itself does it unlock the network, and
  /// free or end the processes.
  Answer run_to_its_end(const Words& words, const std::string& log);
  /// What the end of such a program says.
  Answer ended(const Words& words, const Finished& finished, const std::string& log) const;

  /// Waits until no process of the tree has a Unix socket that leads out of it.
  Answer wait_for_links(const std::vector<pid_t>& tree) const;

  /// Checks, just before CRIU is called, that no process below `root` is another user's.
  static Answer check_users(pid_t root, uid_t owner);

  const CriuRequest& request_;
  GuestJob told_;
  SetDirectory directory_;
  std::string node_, images_, hold_;
  std::uint64_t members_ = 0;
};

class DumpSteps : public CriuSteps {
 public:
  DumpSteps(const CriuRequest& request, const std::atomic<bool>& stop, Progress progress)
      : CriuSteps(request, request.node, stop, std::move(progress)) {}
  Answer perform(Action action) override;

  pid_t root() const noexcept { return root_; }
  std::size_t processes() const noexcept { return tree_.size(); }
  /// If a whole set was made, but processes of the job may be left: which, and why. "": all are
  /// ended, or are to go on.
  const std::string& unsure() const noexcept { return unsure_; }

 protected:
  DumpSteps(const CriuRequest& request, std::vector<std::string> nodes, const SetForm& form,
            const std::atomic<bool>& stop, Progress progress)
      : CriuSteps(request, std::move(nodes), form, stop, std::move(progress)) {}

  virtual Answer claim();
  virtual Answer save();
  virtual Answer seal();
  void draw_hold();
  SetFile set_of(std::vector<SavedMachine> machines) const;

  JobHere job_;
  std::int64_t lease_over_s_ = 0;  // by /proc/uptime
  std::string unsure_;

 private:
  Answer look();
  Answer prepare();
  Answer hold_job();
  Answer check_tree();
  bool is_only_copy() const;

  pid_t root_ = 0;
  std::vector<pid_t> tree_;
};

class RestartSteps : public CriuSteps {
 public:
  /// `set`: what to restore, of one node.
  RestartSteps(const CriuRequest& request, const SetFile& set, const SetForm& form,
               const std::atomic<bool>& stop, Progress progress);
  Answer perform(Action action) override;

 protected:
  /// Puts the images into images_, puts the job's files back, and sets the clock.
  Answer make_ready();
  /// The processes run: from now on they are known, and not by their pids alone.
  void note_running();
  /// Ends those that note_running() found.
  Answer end_processes();
  /// For the text of a failed restore: CRIU ends what it has begun, but may have been killed
  /// itself.
  std::string what_runs() const;

  SavedMachine saved_;
  DumpedProcesses facts_;  // once make_ready() has read them
  std::vector<KnownProcess> running_;
  bool moved_ = false;  // likewise: their sockets are bound to other addresses now

 private:
  Answer look();
  Answer load();
  Answer unpack(const Deadline& deadline);
  Answer readdress();
};

}  // namespace livebtl::hypervisor
