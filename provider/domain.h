// SPDX-License-Identifier: BSD-3-Clause
// provider/domain.h -- fi_domain: holds the process's engine, the storage of outstanding
// operations, and the registered regions that endpoints of this domain offer to peers.
#pragma once

#include <unistd.h>

#include <rdma/fi_domain.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "livebtl/engine.h"
#include "provider/gate.h"
#include "provider/object.h"
#include "provider/op_pool.h"

namespace livebtl::fi {

class Counter;
class Fabric;

/// The domain attributes of fi_info that the domain acts upon.
struct DomainChoices {
  bool several_threads = true;      // anything but FI_THREAD_DOMAIN
  bool virtual_addressing = false;  // peers address regions by our pointers
  bool made_keys = false;           // we choose the keys of regions
};

class Domain final : public Object<Domain, fid_domain> {
 public:
  Domain(Fabric& fabric, std::shared_ptr<Engine> engine, const DomainChoices& choices,
         void* context);
  ~Domain();

  Engine& engine() noexcept { return *engine_; }
  Gate& gate() noexcept { return gate_; }
  OpPool& transmits() noexcept { return transmits_; }
  OpPool& receives() noexcept { return receives_; }
  const DomainChoices& choices() const noexcept { return choices_; }
  /// Regions are visible through every port of this space.
  std::uint32_t space() const noexcept { return space_; }

  /// The domain's own port: regions belong to the domain, while endpoints come and go.
  Result<Port*> region_port();
  /// false: the key is taken.
  bool note_region(std::uint64_t key);
  void forget_region(std::uint64_t key);
  /// Counts the peers' accesses that modify a region; a null counter ends this.
  void count_region(std::uint64_t key, Counter* counter);
  /// Engine's side: such an access took place.
  void region_modified(std::uint64_t key) noexcept;

 private:
  Fabric& fabric_;
  std::shared_ptr<Engine> engine_;
  const DomainChoices choices_;
  const std::uint32_t space_;
  Gate gate_;
  OpPool transmits_;
  OpPool receives_;

  std::mutex region_port_lock_;  // held while the engine is called
  std::unique_ptr<Port> region_port_;
  const pid_t made_by_ = ::getpid();
  std::mutex regions_lock_;  // taken under the engine's lock: the engine is never called under it
  std::unordered_map<std::uint64_t, Counter*> regions_;  // by key; null: not counted
  std::atomic<int> counted_regions_{0};
};

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context);

// One function per object that a domain opens; each lives in the file named for its object.
int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);
int open_address_vector(fid_domain* domain, fi_av_attr* attr, fid_av** av, void* context);
int open_completion_queue(fid_domain* domain, fi_cq_attr* attr, fid_cq** queue, void* context);
int open_counter(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** counter, void* context);
int query_atomic(fid_domain* domain, fi_datatype datatype, fi_op op, fi_atomic_attr* attr,
                 uint64_t flags);
extern fi_ops_mr region_ops;

}  // namespace livebtl::fi
