// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_group.h -- the btlctl on each node of a job, which dump and restore at the
// same time: all up to the moment of no return, then all or none beyond it (node_words.h). Used by
// btlctl's one thread; owns their programs.
#pragma once

#include "hypervisor/criu/node_words.h"
#include "hypervisor/plan/steps.h"
#include "hypervisor/vm/conversation.h"

namespace livebtl::hypervisor {

class NodeGroup {
 public:
  /// `command`: how a program is run on a node; `here`: this node, which needs no command;
  /// `btlctl`: the words of the program.
  NodeGroup(std::string command, std::string here, std::vector<std::string> btlctl)
      : command_(std::move(command)), here_(std::move(here)), btlctl_(std::move(btlctl)) {}

  /// From now on the nodes' btlctl is started with these words.
  void call(std::vector<std::string> btlctl) { btlctl_ = std::move(btlctl); }

  /// Waits until all are ready; if one is not, none of them does anything.
  Answer ready(const std::vector<NodeOrder>& orders, const Deadline& deadline);
  /// Waits until all have done it. An answer that is not ok() names all that have not said so.
  Answer go(const Deadline& deadline);
  void keep();
  /// Waits until all have ended. Returns the names of those that are lost, or did not end as they
  /// should; "": none.
  std::string end(const Deadline& deadline);
  /// The same, after they have undone what they did.
  std::string undo(const Deadline& deadline);

  /// What they answered in ready().
  const std::vector<NodeAnswer>& answers() const noexcept { return answers_; }
  /// The other nodes' relays, as go() was told, in the form that btlctl takes; with one address
  /// each if they are too many.
  std::vector<std::string> relays() const;
  /// The words by which btlctl is run on that host.
  std::vector<std::string> words_on(const std::string& host) const;

 private:
  struct Node {
    std::string name;  // for people: "vm2", "vm2 on vm3"
    bool here;
    Conversation program;
  };
  Answer start(const std::vector<NodeOrder>& orders);
  static Answer hear(Node& node, NodeAnswer& said, const Deadline& deadline);

  std::string command_, here_;
  std::vector<std::string> btlctl_;
  std::vector<Node> nodes_;
  std::vector<NodeAnswer> answers_;
  std::vector<std::string> relays_;
};

}  // namespace livebtl::hypervisor
