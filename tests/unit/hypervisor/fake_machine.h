// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/fake_machine.h -- a QEMU and its guest, as seen through the monitor and the
// agent: real Unix sockets without a machine behind them. One thread per socket; one lock protects
// the state.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/unit/hypervisor/qmp/scripted_peer.h"

namespace livebtl::hypervisor {

class FakeMachine {
 public:
  FakeMachine(const std::string& directory, const std::string& name);
  ~FakeMachine();
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  std::string qmp() const { return base_ + ".qmp"; }
  std::string agent() const { return base_ + ".agent"; }

  struct State {
    std::map<std::string, Json> cards;  // plugged in, with device_add's arguments
    std::map<std::string, std::string> objects;
    std::string status = "running", migration = "none";
    std::string migration_ends = "completed";  // "": it does not end by itself
    FakeMachine* moves_to = nullptr;           // its guest is paused when the migration ends
    int finishes = 0;                          // polls after a migration that show it as not over
    std::set<std::string> refused;             // QMP commands
    std::set<std::string> unanswered;          // ... that get no answer
    std::set<std::string> fixed;               // cards on a bus without hot plug
    int busy = 0;                              // how often the guest is too busy to unplug
    int lingers = 0;                           // polls that still show the deleted memory
    bool holds = false;                        // only give_up() releases cards
    std::map<std::string, int> guest_codes;    // by "prepare", "hold start", ...; absent: 0
    std::map<std::string, int> not_yet;        // ... how often its device is absent first
    std::vector<std::string> log;              // what was done, in order
    int monitors = 0;                          // that have connected
    bool has_name = true;
    std::string holders;  // of its RDMA devices, one per line
    std::string garbles;  // an order for which the agent starts no process, whatever it says
    bool writable_disk = false;
    std::string memory;           // what a snapshot saves, or has loaded
    bool incoming = false;        // the last migration was incoming
    std::uint64_t bandwidth = 7;  // the limit for migrations
  };
  /// The guest releases a card, and every connected client is told.
  void give_up(const std::string& card);
  /// Returns what the guest's agent answers.
  Json ask_agent(const std::string& command, const Json& arguments) {
    return answer_agent(command, arguments);
  }
  /// Reads or changes the state.
  template <class Function>
  auto with(Function&& function) {
    const std::lock_guard lock(mutex_);
    return function(state_);
  }

 private:
  using Serve = void (FakeMachine::*)(JsonLineSocket&, int);
  void listen(const std::string& path, Serve serve);
  void serve_monitor(JsonLineSocket& socket, int number);
  bool wait_for_command(int number);
  void serve_agent(JsonLineSocket& socket, int number);
  Json answer_monitor(const std::string& command, const Json& arguments, std::vector<Json>& events);
  Json answer_agent(const std::string& command, const Json& arguments);
  Json start_program(const Json& arguments);
  Json list(const std::string& path);
  Json get(const std::string& path, const std::string& property);
  void begin_migration(std::vector<Json>& events);
  Json migration() const;
  Json of_a_file(const std::string& command, std::vector<Json>& events);
  Json ask(const std::string& command);
  Json unplug(const std::string& id, std::vector<Json>& events);
  Json run_state();

  std::string base_;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  State state_;
  std::vector<Json> late_events_;
  Fd descriptor_;  // the one that came with a command
  int finishes_ = 0;
  std::string guest_output_;
  int guest_code_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace livebtl::hypervisor
