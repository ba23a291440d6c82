// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/application.h -- the program of a simulated process: it sends, receives, puts,
// gets and adds, and lets the ledger judge what it gets. It uses only the public interface.
//
// Ownership: operations and buffers live here until done; the port must be closed first.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "livebtl/engine.h"
#include "tests/sim/world/ledger.h"

namespace livebtl::sim {

class Application {
 public:
  Application(std::uint64_t self, Ledger& ledger, std::uint64_t seed);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  void open(Engine& engine);
  void close();
  Address address() const { return port_->address(); }
  void meet(std::uint64_t process, const Destination& destination);

  /// Makes some calls. sending: also starts messages and one-sided operations; else only receives.
  void turn(bool sending);
  /// Everything it started is done, except receives of what may still come.
  bool settled() const;
  /// ... and nothing it started waits for others: it may leave.
  bool wound_up() const;
  /// What it waits for, in readable form.
  std::string waiting() const;
  std::uint64_t counter() const noexcept { return region_[0]; }

 private:
  struct Task;  // an operation with its buffers
  struct Other {
    std::uint64_t process = 0;
    Destination destination;
    std::uint64_t receives_posted[2] = {0, 0};  // by tag
    int receives_open[2] = {0, 0};
    std::size_t receives_in_vain[2] = {0, 0};  // ended since it is gone, one after another
    bool cell_busy = false;                    // by a put and the get that checks it
    std::uint64_t puts = 0;
  };

  static void done(Operation& operation, const Completion& completion) noexcept;
  void finish(Task& task, const Completion& completion);
  void finish_receive(Task& task, const Completion& completion);
  Task& start(int kind, std::size_t other);
  void drop_last();
  bool accepted(Accept answer, Other& other);
  void send(std::size_t at);
  void send_active(std::size_t at);
  void receive(std::size_t at, Tag tag);
  void receive_any();
  void cancel_any();
  void add(std::size_t at);
  void put(std::size_t at);
  void check_put(std::size_t at);
  StreamId stream_to(const Other& other, Tag tag) const { return {self_, other.process, tag}; }
  StreamId stream_from(std::uint64_t process, Tag tag) const { return {process, self_, tag}; }

  const std::uint64_t self_;
  Ledger& ledger_;
  Random random_;
  std::unique_ptr<Port> port_;
  std::vector<Other> others_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::uint64_t> region_;  // [0]: the counter; then a cell for each process
  std::vector<std::size_t> to_check_;  // others whose cell holds a completed put
  std::uint64_t any_posted_ = 0;
  std::size_t any_open_ = 0;
};

}  // namespace livebtl::sim
