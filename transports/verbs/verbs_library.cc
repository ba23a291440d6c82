// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_library.cc -- libibverbs, opened when a verbs transport is first made.
#include <dlfcn.h>
#include <sys/resource.h>

#include <cstring>

#include "base/log.h"
#include "transports/verbs/verbs_bell.h"
#include "transports/verbs/verbs_calls.h"

// verbs.h has macros and inline functions by these names, which would link libibverbs.
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

namespace livebtl::verbs {
namespace {

/// One function of the library, by its name there.
template <class Function>
struct Symbol {
  const char* name;
  Function* call = nullptr;
};

/// The driver's own functions, if the one that reports a port's flags is among them. The header
/// does this in a macro that is not standard C++.
const verbs_context* new_enough(ibv_context* context) noexcept {
  const verbs_context* const driver = verbs_get_ctx(context);
  if (driver == nullptr || driver->sz < sizeof *driver - offsetof(verbs_context, query_port))
    return nullptr;
  return driver->query_port != nullptr ? driver : nullptr;
}

class Library final : public Calls {
 public:
  static Result<Calls*> open();

  ibv_device** get_device_list(int* count) override { return get_device_list_.call(count); }
  void free_device_list(ibv_device** list) override { free_device_list_.call(list); }
  ibv_context* open_device(ibv_device* device) override { return open_device_.call(device); }
  int close_device(ibv_context* context) override { return close_device_.call(context); }
  int query_device(ibv_context* context, ibv_device_attr* attributes) override {
    return query_device_.call(context, attributes);
  }
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) override {
    if (const verbs_context* driver = new_enough(context); driver != nullptr)
      return driver->query_port(context, port, attributes, sizeof *attributes);
    *attributes = {};  // the function fills in its original fields: no flags
    return query_port_.call(context, port, reinterpret_cast<_compat_ibv_port_attr*>(attributes));
  }
  int query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid_entry* entry) override {
    return query_gid_.call(context, port, static_cast<std::uint32_t>(index), entry, 0,
                           sizeof *entry);
  }
  ibv_pd* alloc_pd(ibv_context* context) override { return alloc_pd_.call(context); }
  int dealloc_pd(ibv_pd* domain) override { return dealloc_pd_.call(domain); }
  ibv_mr* reg_mr(ibv_pd* domain, void* begin, std::size_t bytes, int access) override {
    return reg_mr_.call(domain, begin, bytes, access);
  }
  int dereg_mr(ibv_mr* region) override { return dereg_mr_.call(region); }
  std::size_t lockable_bytes() override {
    rlimit limit{};
    return ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : 0;
  }
  ibv_comp_channel* create_comp_channel(ibv_context* context) override {
    return create_comp_channel_.call(context);
  }
  int destroy_comp_channel(ibv_comp_channel* channel) override {
    return destroy_comp_channel_.call(channel);
  }
  ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) override {
    return create_cq_.call(context, entries, nullptr, channel, 0);
  }
  int destroy_cq(ibv_cq* queue) override { return destroy_cq_.call(queue); }
  ibv_srq* create_srq(ibv_pd* domain, ibv_srq_init_attr* attributes) override {
    return create_srq_.call(domain, attributes);
  }
  int destroy_srq(ibv_srq* queue) override { return destroy_srq_.call(queue); }
  ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) override {
    return create_qp_.call(domain, attributes);
  }
  int modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) override {
    return modify_qp_.call(pair, attributes, mask);
  }
  int destroy_qp(ibv_qp* pair) override { return destroy_qp_.call(pair); }

  // The context's own operations.
  Posted post_send(ibv_qp* pair, ibv_send_wr* work) override {
    ibv_send_wr* refused = nullptr;
    const int error = pair->context->ops.post_send(pair, work, &refused);
    return {.taken = error == 0 || refused == nullptr, .error = error};
  }
  int ring(ibv_qp* pair) override { return ring_soft_roce(pair->context->cmd_fd, pair->handle); }
  int post_srq_recv(ibv_srq* queue, ibv_recv_wr* work) override {
    ibv_recv_wr* refused = nullptr;
    return queue->context->ops.post_srq_recv(queue, work, &refused);
  }
  int poll_cq(ibv_cq* queue, int count_max, ibv_wc* done) override {
    return queue->context->ops.poll_cq(queue, count_max, done);
  }
  int req_notify_cq(ibv_cq* queue) override { return queue->context->ops.req_notify_cq(queue, 0); }
  int take_cq_event(ibv_comp_channel* channel) override {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    if (const int error = get_cq_event_.call(channel, &queue, &context); error != 0) return error;
    ack_cq_events_.call(queue, 1);
    return 0;
  }
  int get_async_event(ibv_context* context, ibv_async_event* event) override {
    return get_async_event_.call(context, event);
  }
  void ack_async_event(ibv_async_event* event) override { ack_async_event_.call(event); }

 private:
  Status load(void* handle);
  template <class Function>
  bool load(void* handle, Symbol<Function>& symbol) {
    symbol.call = reinterpret_cast<Function*>(::dlsym(handle, symbol.name));
    if (symbol.call == nullptr && missing_ == nullptr) missing_ = symbol.name;
    return symbol.call != nullptr;
  }

  const char* missing_ = nullptr;
  Symbol<int()> fork_init_{"ibv_fork_init"};
  Symbol<ibv_device**(int*)> get_device_list_{"ibv_get_device_list"};
  Symbol<void(ibv_device**)> free_device_list_{"ibv_free_device_list"};
  Symbol<ibv_context*(ibv_device*)> open_device_{"ibv_open_device"};
  Symbol<int(ibv_context*)> close_device_{"ibv_close_device"};
  Symbol<int(ibv_context*, ibv_device_attr*)> query_device_{"ibv_query_device"};
  Symbol<int(ibv_context*, std::uint8_t, _compat_ibv_port_attr*)> query_port_{"ibv_query_port"};
  Symbol<int(ibv_context*, std::uint32_t, std::uint32_t, ibv_gid_entry*, std::uint32_t,
             std::size_t)>
      query_gid_{"_ibv_query_gid_ex"};
  Symbol<ibv_pd*(ibv_context*)> alloc_pd_{"ibv_alloc_pd"};
  Symbol<int(ibv_pd*)> dealloc_pd_{"ibv_dealloc_pd"};
  Symbol<ibv_mr*(ibv_pd*, void*, std::size_t, int)> reg_mr_{"ibv_reg_mr"};
  Symbol<int(ibv_mr*)> dereg_mr_{"ibv_dereg_mr"};
  Symbol<ibv_comp_channel*(ibv_context*)> create_comp_channel_{"ibv_create_comp_channel"};
  Symbol<int(ibv_comp_channel*)> destroy_comp_channel_{"ibv_destroy_comp_channel"};
  Symbol<ibv_cq*(ibv_context*, int, void*, ibv_comp_channel*, int)> create_cq_{"ibv_create_cq"};
  Symbol<int(ibv_cq*)> destroy_cq_{"ibv_destroy_cq"};
  Symbol<ibv_srq*(ibv_pd*, ibv_srq_init_attr*)> create_srq_{"ibv_create_srq"};
  Symbol<int(ibv_srq*)> destroy_srq_{"ibv_destroy_srq"};
  Symbol<ibv_qp*(ibv_pd*, ibv_qp_init_attr*)> create_qp_{"ibv_create_qp"};
  Symbol<int(ibv_qp*, ibv_qp_attr*, int)> modify_qp_{"ibv_modify_qp"};
  Symbol<int(ibv_qp*)> destroy_qp_{"ibv_destroy_qp"};
  Symbol<int(ibv_comp_channel*, ibv_cq**, void**)> get_cq_event_{"ibv_get_cq_event"};
  Symbol<void(ibv_cq*, unsigned)> ack_cq_events_{"ibv_ack_cq_events"};
  Symbol<int(ibv_context*, ibv_async_event*)> get_async_event_{"ibv_get_async_event"};
  Symbol<void(ibv_async_event*)> ack_async_event_{"ibv_ack_async_event"};
};

Status Library::load(void* handle) {
  const auto each = [&](auto&... symbols) { return (load(handle, symbols) && ...); };
  const bool all = each(
      fork_init_, get_device_list_, free_device_list_, open_device_, close_device_, query_device_,
      query_port_, query_gid_, alloc_pd_, dealloc_pd_, reg_mr_, dereg_mr_, create_comp_channel_,
      destroy_comp_channel_, create_cq_, destroy_cq_, create_srq_, destroy_srq_, create_qp_,
      modify_qp_, destroy_qp_, get_cq_event_, ack_cq_events_, get_async_event_, ack_async_event_);
  if (all) return {};
  return fail(Errc::kUnsupported,
              std::string("verbs: the installed libibverbs is too old: it has no ") + missing_ +
                  "; version 32 of rdma-core or later is needed");
}

Result<Calls*> Library::open() {
  void* handle = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(Errc::kUnsupported, std::string("verbs: libibverbs cannot be opened (") +
                                        ::dlerror() +
                                        "); install libibverbs1 and ibverbs-providers");
  }
  static Library opened;
  if (const Status loaded = opened.load(handle); !loaded) return tl::unexpected(loaded.error());
  // Before any other call: on kernels before 5.12 a fork would otherwise take the pages of the
  // drivers' queues away from the device. Later kernels do not need it; there it does nothing.
  if (const int error = opened.fork_init_.call(); error != 0) {
    log(LogLevel::kInfo, "verbs",
        "another library used libibverbs first, so queues are not protected against fork: %s",
        std::strerror(error));
  }
  return &opened;
}

}  // namespace

Result<Calls*> library() {
  // A failed attempt is repeated: the package may have been installed meanwhile.
  static Calls* opened = nullptr;
  if (opened != nullptr) return opened;
  auto now = Library::open();
  if (now) opened = *now;
  return now;
}

}  // namespace livebtl::verbs
