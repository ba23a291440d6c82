// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/nodes_steps.h -- the steps of criu_machine.h for a job on several nodes: each
// node's btlctl dumps or restores what is there, and this one keeps the set's list. Used by
// btlctl's one thread; borrows the request.
#pragma once

#include "hypervisor/criu/criu_steps.h"
#include "hypervisor/criu/node_group.h"

namespace livebtl::hypervisor {

class NodesDumpSteps : public DumpSteps {
 public:
  NodesDumpSteps(const CriuRequest& request, std::vector<std::string> nodes,
                 const std::atomic<bool>& stop, Progress progress);
  Answer perform(Action action) override;

  const NodeGroup& group() const noexcept { return group_; }

 private:
  Answer claim() override;
  Answer save() override;
  Answer check_whole() const;
  Answer check_in_time(const Deadline& deadline) const;
  Answer seal() override;

  std::vector<std::string> nodes_;
  NodeGroup group_;
};

class NodesRestartSteps : public CriuSteps {
 public:
  NodesRestartSteps(const CriuRequest& request, const SetFile& set, const std::atomic<bool>& stop,
                    Progress progress);
  Answer perform(Action action) override;
  const NodeGroup& group() const noexcept { return group_; }

 private:
  Answer look();
  Answer load();
  Answer take_name();

  const SetFile& set_;
  NodeGroup group_;
};

}  // namespace livebtl::hypervisor
