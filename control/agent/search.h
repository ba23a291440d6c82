// SPDX-License-Identifier: BSD-3-Clause
// control/agent/search.h -- asks unreachable peers where they listen, and tells the engine.
//
// A member of this node is asked over its own socket; any other through every relay known here,
// since its node is not known. A process that does not answer is asked again (search_plan.h). If it
// has ended, its node's directory holds proof, which its relay can report; the engine is then told.
// While the engine seeks nobody, nothing is done and nothing is kept open. Threads: the agent's
// alone.
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
  /// When turn() is due next; INT64_MAX: once the engine seeks somebody.
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
  /// Repeated under its number until it is answered: an answer may come only after the next pause.
  struct Question {
    std::uint64_t number = 0;
    bool answered = false;
  };
  std::map<ProcessId, Question> questions_;  // open questions, by peer sought
  SearchPlan plan_;
  std::pair<std::uint64_t, core::Rung> reached_{};  // operation and rung of the last reached order
  bool at_work_ = false;
  bool elsewhere_ = false;  // somebody sought in this round is not on this node
  std::vector<std::string> relays_;
  std::size_t first_relay_ = 0;  // the first of those asked now
  std::uint64_t rounds_ = 0;
  std::uint64_t fellows_ = 0;  // asked for relays so far
};

}  // namespace livebtl::control
