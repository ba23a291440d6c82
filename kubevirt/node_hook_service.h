// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/node_hook_service.h -- the server of KubeVirt's node hooks. Threads: gRPC's, one per
// call; owns its GuestOrders.
#pragma once

#include <node_hooks.grpc.pb.h>

#include "kubevirt/guest_orders.h"

namespace livebtl::kubevirt {

namespace interface = ::kubevirt::hooks::plugins::v1alpha1;

class NodeHookService final : public interface::NodeHookService::Service {
 public:
  explicit NodeHookService(OrderSettings settings) : orders_(std::move(settings)) {}

  /// PreMigrationSource: the guest's job lets go, or the status says why not. PostMigrationTarget:
  /// it returns. Other hook points, registered by mistake, succeed and do nothing.
  grpc::Status ExecuteNodeHook(grpc::ServerContext* context,
                               const interface::ExecuteNodeHookRequest* request,
                               interface::ExecuteNodeHookResponse* response) override;

 private:
  GuestOrders orders_;
};

}  // namespace livebtl::kubevirt
