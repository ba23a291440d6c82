// SPDX-License-Identifier: BSD-3-Clause
// provider/cq_calls.cc -- the completion queue's table of calls, as libfabric sees it.
#include <memory>

#include "provider/cq.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

int close_queue(fid_t object) {
  CompletionQueue* const queue = &CompletionQueue::of(object);
  if (queue->used()) return -FI_EBUSY;
  queue->domain().drop();
  delete queue;
  return 0;
}

int control_queue(fid_t object, int command, void* argument) {
  CompletionQueue& queue = CompletionQueue::of(object);
  switch (command) {
    case FI_GETWAIT:
      if (queue.wait_fd()->number() < 0) return -FI_ENODATA;
      *static_cast<int*>(argument) = queue.wait_fd()->number();
      return 0;
    case FI_GETWAITOBJ:
      *static_cast<fi_wait_obj*>(argument) = queue.wait_object();
      return 0;
    default:
      return -FI_ENOSYS;
  }
}

ssize_t read_queue(fid_cq* queue, void* entries, size_t count) {
  return CompletionQueue::of(queue).read(entries, count, nullptr);
}
ssize_t read_queue_from(fid_cq* queue, void* entries, size_t count, fi_addr_t* sources) {
  return CompletionQueue::of(queue).read(entries, count, sources);
}
ssize_t read_queue_error(fid_cq* queue, fi_cq_err_entry* entry, uint64_t flags) {
  return CompletionQueue::of(queue).read_error(entry, flags);
}
ssize_t wait_queue(fid_cq* queue, void* entries, size_t count, const void*, int timeout_ms) {
  return CompletionQueue::of(queue).read_waiting(entries, count, nullptr, timeout_ms);
}
ssize_t wait_queue_from(fid_cq* queue, void* entries, size_t count, fi_addr_t* sources, const void*,
                        int timeout_ms) {
  return CompletionQueue::of(queue).read_waiting(entries, count, sources, timeout_ms);
}
int signal_queue(fid_cq* queue) {
  CompletionQueue::of(queue).signal();
  return 0;
}
const char* error_text(fid_cq*, int provider_errno, const void*, char* text, size_t bytes) {
  const char* const words = fi_strerror(provider_errno);
  if (text && bytes > 0) std::snprintf(text, bytes, "%s", words);
  return words;
}

fi_ops queue_fid_ops = {sizeof(fi_ops), close_queue, nosys, control_queue, nosys, nosys, nosys};
fi_ops_cq queue_ops = {
    .size = sizeof(fi_ops_cq),
    .read = read_queue,
    .readfrom = read_queue_from,
    .readerr = read_queue_error,
    .sread = wait_queue,
    .sreadfrom = wait_queue_from,
    .signal = signal_queue,
    .strerror = error_text,
};

}  // namespace

CompletionQueue::CompletionQueue(Domain& domain, fi_cq_format format, void* context) noexcept
    : fid_cq{}, domain_(domain), copy_(copy_for(format)) {
  fid.fclass = FI_CLASS_CQ;
  fid.context = context;
  fid.ops = &queue_fid_ops;
  ops = &queue_ops;
}

int open_completion_queue(fid_domain* domain, fi_cq_attr* attr, fid_cq** queue, void* context) {
  if (!attr || attr->flags & ~static_cast<uint64_t>(FI_AFFINITY)) return -FI_EINVAL;
  if (attr->wait_cond != FI_CQ_COND_NONE && attr->wait_cond != FI_CQ_COND_THRESHOLD)
    return -FI_EINVAL;
  return guarded([&] {
    Domain& owner = Domain::of(domain);
    auto made = std::make_unique<CompletionQueue>(owner, attr->format, context);
    if (const int error = made->set_wait(*attr)) return error;
    attr->format = attr->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attr->format;
    owner.keep();
    *queue = made.release();
    return 0;
  });
}

}  // namespace livebtl::fi
