// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_group.cc -- see node_group.h.
#include "hypervisor/criu/node_group.h"

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {

static_assert(kNodeLineBytesMax < kSaidBytesMax, "what a node says can be heard");

namespace {

constexpr std::size_t kRelaysBytesMax = std::size_t{24}
                                        << 10;  // half of what btlctl takes, as it adds to each

}  // namespace

std::vector<std::string> NodeGroup::words_on(const std::string& host) const {
  if (host == here_) return btlctl_;
  std::vector<std::string> words = words_for_node(command_, host);
  words.insert(words.end(), btlctl_.begin(), btlctl_.end());
  return words;
}

Answer NodeGroup::ready(const std::vector<NodeOrder>& orders, const Deadline& deadline) {
  Answer answer = start(orders);
  for (std::size_t i = 0; answer.ok() && i < nodes_.size(); ++i)
    answer = hear(nodes_[i], answers_[i], deadline);
  if (!answer.ok()) undo({monotonic_now() + kAfterwards, nullptr});
  return answer;
}

/// Starts all of them before waiting for any: they work at the same time.
Answer NodeGroup::start(const std::vector<NodeOrder>& orders) {
  nodes_.clear();
  answers_.assign(orders.size(), {});
  for (const NodeOrder& order : orders) {
    const std::string name =
        order.host == order.node ? order.host : order.node + " on " + order.host;
    auto program = Conversation::start(words_on(order.host), AtTerminal::kMayAsk);
    if (!program) {
      Answer answer = late_answer_of(program.error());
      answer.text = name + ": " + answer.text;
      return answer;
    }
    nodes_.push_back({name, order.host == here_, std::move(*program)});
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].program.say(order_line(orders[i]));
  return {};
}

Answer NodeGroup::hear(Node& node, NodeAnswer& said, const Deadline& deadline) {
  const auto line = node.program.read_line(deadline);
  auto answer = line ? read_node_answer(*line) : Result<NodeAnswer>(tl::unexpected(line.error()));
  if (!answer) {
    Answer lost = late_answer_of(answer.error());
    lost.text = node.name + ": " + lost.text;
    return lost;
  }
  said = std::move(*answer);
  if (said.code == kCodeDone) return {};
  return {Outcome::kFailed, code_undone(said.code), node.name + ": " + said.text};
}

Answer NodeGroup::go(const Deadline& deadline) {
  for (Node& node : nodes_) node.program.say(kGo);
  Answer all;
  relays_.clear();
  for (Node& node : nodes_) {
    NodeAnswer said;
    const Answer one = hear(node, said, deadline);
    if (one.ok() && !node.here && !said.relay.empty()) relays_.push_back(said.relay);
    if (one.ok()) continue;
    if (all.ok()) {
      all = one;
    } else {
      all.text += "; " + one.text;
    }
  }
  return all;
}

std::vector<std::string> NodeGroup::relays() const {
  std::size_t bytes = 0;
  for (const std::string& relay : relays_) bytes += relay.size();
  std::vector<std::string> told = relays_;
  for (std::string& relay : told) {
    if (bytes > kRelaysBytesMax) relay.resize(std::min(relay.find(','), relay.size()));
  }
  return told;
}

void NodeGroup::keep() {
  for (Node& node : nodes_) node.program.say(kKeep);
}

std::string NodeGroup::end(const Deadline& deadline) {
  std::string lost;
  for (Node& node : nodes_) node.program.hang_up();
  for (Node& node : nodes_) {
    const auto finished = node.program.finish(deadline);
    const bool told = finished && (finished->code == kCodeDone || finished->code == kCodeTakenBack);
    if (!told) lost += (lost.empty() ? "" : ", ") + node.name;
  }
  nodes_.clear();
  return lost;
}

std::string NodeGroup::undo(const Deadline& deadline) {
  for (Node& node : nodes_) node.program.say(kUndo);
  return end(deadline);
}

}  // namespace livebtl::hypervisor
