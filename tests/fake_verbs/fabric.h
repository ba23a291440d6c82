// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/fabric.h -- a fabric of RDMA devices that exist only in memory, behind the calls
// of transports/verbs/verbs_calls.h. It checks what a real device would punish later or silently:
// queue overruns, unregistered memory, objects that are left over or in use.
//
// Deterministic: sends are carried out in the call that posts them or, with `lag`, a few at each
// poll of the completion queue. Threads: any, one lock for all.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "transports/verbs/verbs_address.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::fake_verbs {

class Fabric;
struct Context;

struct GidEntry {
  verbs::Gid gid{};
  std::uint32_t type = IBV_GID_TYPE_ROCE_V2;
  std::uint32_t network_device = 7;
};

/// "::ffff:10.0.1.2" and the like.
verbs::Gid gid(const std::string& text);

/// A device with one port. What tests set is read by the next call.
struct Adapter {
  explicit Adapter(std::string its_name, GidEntry entry);

  ibv_device device{};
  std::vector<GidEntry> gids;
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  std::uint16_t lid = 0;
  bool grh_required = false;  // nothing connects without a global route header
  ibv_mtu mtu = IBV_MTU_4096;
  int open_error = 0;
  int lost_error = 0;         // what calls return since it was removed; 0: it is there
  bool mute = false;          // nothing gets in or out, and no error results
  bool bell_refused = false;  // as for Soft-RoCE after a restore by CRIU: until ring()
  int ring_error = 0;         // what ring() returns
  std::size_t register_max = SIZE_MAX;
  std::size_t registered = 0;
  std::size_t lockable = 64u << 20;
  int max_srq_wr = 32768, max_cqe = 65536, max_qp = 65536, max_srq = 100;
  std::uint32_t max_inline = 256;
  std::vector<ibv_wc_status> failures;       // of the next sends, in order
  std::vector<ibv_wc_status> read_failures;  // of the next reads, each half done by then
  std::size_t user_register_max = SIZE_MAX;  // of what others may read, or a device writes alone
  std::list<Context*> contexts;
};

struct Channel : ibv_comp_channel {
  Fd event;
};
struct Queue : ibv_cq {
  Channel* channel_events = nullptr;
  std::deque<ibv_wc> done;
  bool armed = false;
};
struct Receive {
  std::uint64_t id = 0;
  ibv_sge piece{};
};
struct SharedQueue : ibv_srq {
  std::deque<Receive> receives;
  std::uint32_t max = 0;
};
struct Work {
  std::uint64_t id = 0;
  ibv_wr_opcode opcode{};
  ibv_sge piece{};
  std::uint64_t remote_address = 0;
  std::uint32_t remote_key = 0;
  bool carried_out = false;  // and waits for its turn to be reported
  bool has_piece = false;
  std::vector<std::byte> copy;  // inline
  bool is_inline = false;
};
struct Pair : ibv_qp {
  Adapter* adapter = nullptr;
  std::deque<Work> sends;
  std::deque<Work> untold;  // posted, but the device does not know yet
  std::uint32_t depth = 0;
  std::uint32_t inline_max = 0;
  std::uint32_t outstanding = 0;  // posted, completion not read yet
  ibv_qp_attr attributes{};
};
struct Domain : ibv_pd {};
struct Region : ibv_mr {
  int access = 0;
};
struct Context : ibv_context {
  Adapter* adapter = nullptr;
  Fd command, async;
  std::deque<ibv_async_event> events;
  std::size_t unacknowledged = 0;
  int dead = 0;  // as Adapter::lost_error, but for good
};

/// One machine's libibverbs: what a transport is given as its calls.
class Machine final : public verbs::Calls {
 public:
  explicit Machine(Fabric& fabric) : fabric_(fabric) {}
  ~Machine() override;

  /// `entry`: its first address.
  Adapter& add(const std::string& name, GidEntry entry);

  ibv_device** get_device_list(int* count) override;
  void free_device_list(ibv_device** list) override;
  ibv_context* open_device(ibv_device* device) override;
  int close_device(ibv_context* context) override;
  int query_device(ibv_context* context, ibv_device_attr* attributes) override;
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) override;
  int query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid_entry* entry) override;
  ibv_pd* alloc_pd(ibv_context* context) override;
  int dealloc_pd(ibv_pd* domain) override;
  ibv_mr* reg_mr(ibv_pd* domain, void* begin, std::size_t bytes, int access) override;
  int dereg_mr(ibv_mr* region) override;
  std::size_t lockable_bytes() override;
  ibv_comp_channel* create_comp_channel(ibv_context* context) override;
  int destroy_comp_channel(ibv_comp_channel* channel) override;
  ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) override;
  int destroy_cq(ibv_cq* queue) override;
  ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr* attributes) override;
  int destroy_srq(ibv_srq* queue) override;
  ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) override;
  int modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) override;
  int destroy_qp(ibv_qp* pair) override;
  verbs::Posted post_send(ibv_qp* pair, ibv_send_wr* work) override;
  int ring(ibv_qp* pair) override;
  int post_srq_recv(ibv_srq* queue, ibv_recv_wr* work) override;
  int poll_cq(ibv_cq* queue, int count_max, ibv_wc* done) override;
  int req_notify_cq(ibv_cq* queue) override;
  int take_cq_event(ibv_comp_channel* channel) override;
  int get_async_event(ibv_context* context, ibv_async_event* event) override;
  void ack_async_event(ibv_async_event* event) override;

 private:
  Fabric& fabric_;
  std::vector<std::unique_ptr<Adapter>> adapters_;
};

/// Counts what must never happen.
struct Faults {
  std::uint32_t overruns = 0;      // of completion, send or shared receive queues
  std::uint32_t not_ready = 0;     // a message found no buffer
  std::uint32_t wild = 0;          // memory outside of every registration
  std::uint32_t still_in_use = 0;  // destroyed while something else refers to it
  std::uint32_t unknown = 0;       // destroyed twice, or never made
  std::uint32_t writable = 0;      // memory that others may write to: we never allow that
  std::uint32_t reads_ahead = 0;   // more reads at once than the queue pair was made for
  friend bool operator==(const Faults&, const Faults&) = default;
};

class Fabric {
 public:
  bool lag = false;
  bool reads_stand_still = false;         // they make no progress until this is false
  std::vector<std::uint32_t> unanswered;  // queue pairs whose sends nobody acknowledges, with lag

  Faults faults() const;
  /// Bytes read from others' memory, since the beginning.
  std::size_t bytes_read() const;
  /// Registrations that peers may read from now.
  std::size_t exposed() const;
  /// Contexts, domains, regions, channels, queues and pairs that exist.
  std::size_t alive() const;

  // What happens to a device; events come as from a real one.
  /// Like a driver that can remove a device in use: every call fails, DEVICE_FATAL.
  void fail(Adapter& adapter);
  /// Like Soft-RoCE: most calls still work, the port is gone, GID_CHANGE.
  void unplug(Adapter& adapter);
  void plug_in(Adapter& adapter);
  void set_port(Adapter& adapter, ibv_port_state state);
  void set_gid(Adapter& adapter, std::size_t index, const verbs::Gid& value);
  void set_lid(Adapter& adapter, std::uint16_t lid);
  void pair_fails(Adapter& adapter, std::uint32_t number);
  void flip_payload_bit_of_next() { flip_ = true; }
  void flip_bit_of_next_read() { flip_read_ = true; }
  /// Queue pairs by number, of all devices.
  std::vector<std::uint32_t> pairs() const;

 private:
  friend class Machine;

  void tell(Adapter& adapter, ibv_event_type type, ibv_qp* pair = nullptr);
  void take(Pair& pair, const Work& work);
  void carry_out(Pair& pair, std::size_t count_max);
  bool carry_out_one(Pair& pair, const Work& work, ibv_wc_status& status);
  static ibv_wc_status write_nothing(const Pair& to, const Work& work);
  ibv_wc_status read(const Pair& from, Pair& to, const Work& work, std::size_t bytes);
  const Region* readable(const Pair& of, const Work& work) const;
  void check_read(const Pair& pair);
  ibv_wc_status deliver(const Pair& from, Pair& to, const Work& work);
  Pair* other_end(const Pair& pair);
  Adapter* adapter_at(const ibv_ah_attr& route);
  bool registered(const ibv_sge& piece) const;
  void complete(Pair& pair, std::uint64_t id, ibv_wc_status status);
  void break_pair(Pair& pair);
  void push(ibv_cq* queue, const ibv_wc& done);
  template <class Object>
  bool forget(std::set<Object*>& all, void* object);

  mutable std::mutex mutex_;
  Faults faults_;
  bool flip_ = false;
  bool flip_read_ = false;
  std::size_t bytes_read_ = 0;
  std::uint32_t next_number_ = 17;
  std::uint32_t next_key_ = 100;
  std::vector<Adapter*> adapters_;
  std::set<Context*> contexts_;
  std::set<Domain*> domains_;
  std::set<Region*> regions_;
  std::set<Channel*> channels_;
  std::set<Queue*> queues_;
  std::set<SharedQueue*> shared_;
  std::set<Pair*> pairs_;
};

}  // namespace livebtl::fake_verbs
