// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/nodes_steps.cc -- see nodes_steps.h.
#include "hypervisor/criu/nodes_steps.h"

#include <algorithm>
#include <filesystem>

#include "hypervisor/criu/dump_files.h"

namespace livebtl::hypervisor {
namespace {

std::vector<std::string> words_for_nodes(const GuestJob& job) {
  std::vector<std::string> words = words_naming(job);
  words.insert(words.begin(), job.btlctl);
  words.insert(words.end(), {"checkpoint", "node"});
  return words;
}

NodeGroup group_for(const CriuRequest& request) {
  return {request.node_command, request.node, words_for_nodes(request.job)};
}

NodeOrder order_for(const CriuRequest& request, const std::string& node, const Deadline& deadline) {
  NodeOrder order;
  std::error_code failed;
  order.directory = std::filesystem::absolute(request.directory, failed).string();
  order.node = node;
  order.host = host_of(request, node);
  order.goes_on = request.goes_on;
  order.timeout_s = std::max<TimeNs>(1, (deadline.at - monotonic_now()) / kSecond);
  return order;
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : names) text += (text.empty() ? "" : ", ") + each;
  return text;
}

/// Checks that each node has its own host, and that this host is one of them. Errors: kRefused.
Status check_hosts(const CriuRequest& request, const std::vector<std::string>& nodes,
                   const std::string& whose) {
  for (const auto& [node, host] : request.hosts) {
    if (std::ranges::find(nodes, node) == nodes.end())
      return fail(Errc::kRefused,
                  whose + " has no processes of " + node + ", but of " + listed_names(nodes));
  }
  std::vector<std::string> hosts;
  hosts.reserve(nodes.size());
  for (const std::string& node : nodes) hosts.push_back(host_of(request, node));
  if (std::ranges::find(hosts, request.node) == hosts.end())
    return fail(Errc::kRefused, whose + " has, or gets, no processes on this node, " +
                                    request.node + "; call it on one of " + listed_names(hosts) +
                                    ", or say by --on whose place this one has");
  std::ranges::sort(hosts);
  if (const auto twice = std::ranges::adjacent_find(hosts); twice != hosts.end())
    return fail(Errc::kRefused, "the processes of two nodes cannot be on one host, " + *twice +
                                    ": they may have the same numbers and files");
  return {};
}

std::vector<std::string> names_in(const SetFile& set) {
  std::vector<std::string> names;
  for (const SavedMachine& each : set.machines) names.push_back(each.name);
  return names;
}

}  // namespace

NodesDumpSteps::NodesDumpSteps(const CriuRequest& request, std::vector<std::string> nodes,
                               const std::atomic<bool>& stop, Progress progress)
    : DumpSteps(request, nodes, kNodesSet, stop, std::move(progress)),
      nodes_(std::move(nodes)),
      group_(group_for(request)) {}

Answer NodesDumpSteps::perform(Action action) {
  if (action.step == Step::kDiscard) group_.undo(afterwards());
  Answer answer = DumpSteps::perform(action);
  if (action.step != Step::kLook) return answer;
  group_.call(words_for_nodes(told()));
  const auto fit = check_hosts(request_, nodes_, "the job");
  return answer.ok() && !fit ? Answer{Outcome::kFailed, kCodeRefused, fit.error().text} : answer;
}

Answer NodesDumpSteps::claim() {
  draw_hold();
  return answer_of(directory_.prepare());
}

/// If a node fails or is lost before the moment of no return, all nodes let their processes go on.
Answer NodesDumpSteps::save() {
  const Deadline deadline = uninterrupted();
  std::vector<NodeOrder> orders;
  for (const std::string& node : nodes_) {
    NodeOrder order = order_for(request_, node, deadline);
    order.job = job_.id;
    order.hold = hold_;
    order.lease_left_s = std::max<std::int64_t>(0, lease_over_s_ - uptime_s());
    orders.push_back(std::move(order));
  }
  if (Answer ready = group_.ready(orders, deadline); !ready.ok()) return ready;
  Answer whole = check_whole();
  if (whole.ok()) whole = check_in_time(deadline);
  if (!whole.ok()) {
    group_.undo(afterwards());
    return whole;
  }
  Answer gone = group_.go(afterwards());
  if (request_.goes_on) return gone;
  // All files are there, and stay there, whatever became of those nodes' processes.
  if (!gone.ok()) unsure_ = gone.text;
  return {};
}

/// Checks that no process of the job is left out, and that none has a connection to one that is.
Answer NodesDumpSteps::check_whole() const {
  std::uint64_t members = 0;
  std::vector<TcpConnection> out;
  for (const NodeAnswer& each : group_.answers()) {
    members += each.members;
    out.insert(out.end(), each.connections.begin(), each.connections.end());
  }
  if (members != members_)
    return {Outcome::kFailed, kCodeTakenBack,
            std::to_string(members_) + " processes were held, but " + std::to_string(members) +
                " dumped on the nodes: did the job grow meanwhile? Try again"};
  const TcpConnection* const half = half_connection(out);
  if (half == nullptr) return {};
  return {Outcome::kFailed, kCodeTakenBack,
          half->owner + " has a connection from " + half->local + " to " + half->remote +
              ", where no process is that was dumped; it would be lost. Started by ssh, orted must "
              "not stay below it: mpirun --mca orte_launch_agent 'orted --daemonize'"};
}

/// A node counts the rest of the lease from when it is told, which ssh may have delayed. By now all
/// stand still: if the hold is not over yet, no process has gone on before. And no node waits
/// longer than it was told (node_side.h).
Answer NodesDumpSteps::check_in_time(const Deadline& deadline) const {
  if (uptime_s() >= lease_over_s_)
    return {Outcome::kFailed, kCodeTakenBack,
            "the hold was over before all nodes had dumped: --lease must be longer"};
  if (monotonic_now() < deadline.at) return {};
  return {Outcome::kFailed, kCodeTakenBack,
          "the time was up before all nodes had dumped: --timeout must be longer"};
}

Answer NodesDumpSteps::seal() {
  std::vector<SavedMachine> machines;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    machines.push_back(group_.answers()[i].file);
    machines.back().name = nodes_[i];
  }
  if (const auto sealed = directory_.seal_as_told(set_of(std::move(machines))); !sealed)
    return answer_of(sealed.error());
  group_.keep();
  group_.end(afterwards());
  return {};
}

NodesRestartSteps::NodesRestartSteps(const CriuRequest& request, const SetFile& set,
                                     const std::atomic<bool>& stop, Progress progress)
    : CriuSteps(request, names_in(set), kNodesSet, stop, std::move(progress)),
      set_(set),
      group_(group_for(request)) {
  hold_ = set.hold;
}

Answer NodesRestartSteps::perform(Action action) {
  switch (action.step) {
    case Step::kLook:
      return look();
    case Step::kLoad:
      return load();
    case Step::kRestored: {
      // Until they tell anew, members on other nodes are found by the relays that the nodes named.
      Answer whole = order(job_restored(hold_, group_.relays()), uninterrupted());
      if (whole.ok()) {
        group_.keep();
        group_.end(afterwards());
      }
      return whole;
    }
    case Step::kHalt: {
      const std::string lost = group_.undo(afterwards());
      if (lost.empty()) return {};
      return {Outcome::kFailed, kCodeTakenBack, "no answer from " + lost + ": look there"};
    }
    default: {
      Verb verb = verb_of(GuestOrder::kReturn, "");
      for (const std::string& relay : group_.relays()) verb.insert(verb.end(), {"--relay", relay});
      return order(verb, afterwards());
    }
  }
}

Answer NodesRestartSteps::look() {
  if (const auto fit = check_hosts(request_, names_in(set_), "the set"); !fit)
    return {Outcome::kFailed, kCodeRefused, fit.error().text};
  return run({request_.criu, "--version"}, forward());
}

Answer NodesRestartSteps::load() {
  const Deadline deadline = uninterrupted();
  std::vector<NodeOrder> orders;
  for (const SavedMachine& each : set_.machines) {
    NodeOrder order = order_for(request_, each.name, deadline);
    order.dumps = false;
    order.addresses = request_.addresses;
    order.hold = set_.hold;
    order.members = set_.members;
    order.file = each;
    orders.push_back(std::move(order));
  }
  Answer restored = group_.ready(orders, deadline);
  if (restored.ok()) {
    restored = take_name();
    Deadline done = afterwards();
    if (!request_.addresses.empty()) done.at += kRelayComes;
    if (restored.ok()) restored = group_.go(done);
    if (!restored.ok()) group_.undo(afterwards());
  }
  if (!restored.ok()) restored.text += "; all nodes were told to end what they had restored";
  return restored;
}

/// Each node has read in its own file whose processes they are. From now on orders are for that job
/// alone: another user's job, or root's own, would refuse them, and all that is restored would be
/// ended.
Answer NodesRestartSteps::take_name() {
  const NodeAnswer& first = group_.answers().front();
  const auto whose = [](const NodeAnswer& each) {
    return each.owner ? "job " + each.job + " of user " + std::to_string(*each.owner)
                      : std::string("a job that it does not name");
  };
  for (std::size_t i = 0; i < set_.machines.size(); ++i) {
    const NodeAnswer& each = group_.answers()[i];
    if (each.owner && each.owner == first.owner && each.job == first.job) continue;
    return {Outcome::kFailed, kCodeInconsistent,
            set_.machines[i].name + " has restored " + whose(each) + ", but " +
                set_.machines.front().name + " " + whose(first) +
                ": restore the files of one dump, by btlctl of one version on all nodes"};
  }
  told_.user = std::to_string(*first.owner);
  if (!first.job.empty()) told_.job = first.job;
  return {};
}

}  // namespace livebtl::hypervisor
