// SPDX-License-Identifier: BSD-3-Clause
// provider/fabric.h -- fi_fabric: opens domains, event queues and wait sets. Holds nothing itself.
#pragma once

#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <atomic>

namespace livebtl::fi {

class Fabric final : public fid_fabric {
 public:
  explicit Fabric(void* context) noexcept;
  static Fabric& of(fid_fabric* fabric) noexcept { return static_cast<Fabric&>(*fabric); }

  void keep() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  bool used() const noexcept { return users_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<int> users_{0};
};

int open_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context);

/// What fi_prov_ini hands to libfabric; log lines name it.
fi_provider& provider_record() noexcept;

}  // namespace livebtl::fi
