// SPDX-License-Identifier: BSD-3-Clause
// provider/cq_calls.cc -- the completion queue's table of calls, as libfabric sees it.
#include <memory>

#include "provider/cq.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

int control_queue(fid_t object, int command, void* argument) {
  if (command != FI_GETWAITOBJ) return get_wait<CompletionQueue>(object, command, argument);
  *static_cast<fi_wait_obj*>(argument) = CompletionQueue::of(object).wait_object();
  return 0;
}

ssize_t read_queue(fid_cq* queue, void* entries, size_t count) {
  return CompletionQueue::of(queue).read(entries, count, nullptr);
}
ssize_t wait_queue(fid_cq* queue, void* entries, size_t count, const void*, int timeout_ms) {
  return CompletionQueue::of(queue).read_waiting(entries, count, nullptr, timeout_ms);
}
ssize_t wait_queue_from(fid_cq* queue, void* entries, size_t count, fi_addr_t* sources, const void*,
                        int timeout_ms) {
  return CompletionQueue::of(queue).read_waiting(entries, count, sources, timeout_ms);
}

fi_ops queue_fid_ops = {
    sizeof(fi_ops), close_object<CompletionQueue>, nosys, control_queue, nosys, nosys, nosys,
};
fi_ops_cq queue_ops = {
    .size = sizeof(fi_ops_cq),
    .read = read_queue,
    .readfrom = Method<&CompletionQueue::read>::call,
    .readerr = Method<&CompletionQueue::read_error>::call,
    .sread = wait_queue,
    .sreadfrom = wait_queue_from,
    .signal = Method<&CompletionQueue::signal>::call,
    .strerror = error_text,
};

}  // namespace

CompletionQueue::CompletionQueue(Domain& domain, fi_cq_format format, void* context) noexcept
    : Object(FI_CLASS_CQ, queue_fid_ops, context), domain_(domain), copy_(copy_for(format)) {
  ops = &queue_ops;
  domain_.keep();
}

int open_completion_queue(fid_domain* domain, fi_cq_attr* attr, fid_cq** queue, void* context) {
  if (!attr || attr->flags & ~static_cast<uint64_t>(FI_AFFINITY)) return -FI_EINVAL;
  if (attr->wait_cond != FI_CQ_COND_NONE && attr->wait_cond != FI_CQ_COND_THRESHOLD)
    return -FI_EINVAL;
  return guarded([&] {
    auto made = std::make_unique<CompletionQueue>(Domain::of(domain), attr->format, context);
    if (const int error = made->set_wait(attr->wait_obj, attr->wait_set)) return error;
    attr->format = attr->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attr->format;
    *queue = made.release();
    return 0;
  });
}

}  // namespace livebtl::fi
