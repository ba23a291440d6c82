// SPDX-License-Identifier: BSD-3-Clause
// control/agent/search.h -- asks peers that the engine cannot reach where they listen, and tells it.
//
// A member of this node is asked over its own socket; any other by way of every relay that is known
// here, since its node is not known. A process that does not answer is asked
// again (search_plan.h). Of one that has ended there is proof in its node's directory, which its relay
// can tell; the engine is told then. Nothing is done, and nothing is kept open, while the engine seeks nobody.
// Threads: the agent's alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/agent/router.h"
#include "control/agent/search_plan.h"
#include "control/wire/messages.h"
#include "core/engine/admin.h"

namespace livebtl::control {

class Search {
 public:
  Search(const JobFacts& job, ProcessId self, core::Admin& admin, Router& router)
      : job_(job), self_(self), admin_(admin), router_(router) {}

  /// Once in each turn of the agent.
  void turn(TimeNs now);
  void hear(const Router::Answered& answer);
  /// The engine reported something. A completed order ends the pause.
  void reported();
  /// When turn() wants to be called next; INT64_MAX: when the engine seeks somebody.
  TimeNs wake_at() const noexcept;

 private:
  void ask(ProcessId process);
  std::uint64_t question_for(ProcessId process);
  void hear(ProcessId asked, const AddressesAnswer& answer);
  void end_round();
  void ask_for_relays();
  void learn(const std::vector<std::string>& relays);
  void rest();

  JobFacts job_;
  const ProcessId self_;
  core::Admin& admin_;
  Router& router_;
  /// Repeated under its number until it is answered: the answer to one may come when the pause
  /// after it is over.
  struct Question {
    std::uint64_t number = 0;
    bool answered = false;
  };
  std::map<ProcessId, Question> questions_;  // open, to those that are sought
  SearchPlan plan_;
  std::pair<std::uint64_t, core::Rung> reached_{};  // operation and rung of the last order that was
  bool at_work_ = false;
  bool elsewhere_ = false;  // somebody sought in this round is not on this node
  std::vector<std::string> relays_;
  std::size_t first_relay_ = 0;  // of those that are asked now
  std::uint64_t rounds_ = 0;
  std::uint64_t fellows_ = 0;  // asked for relays so far
};

}  // namespace livebtl::control
