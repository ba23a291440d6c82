// SPDX-License-Identifier: BSD-3-Clause
// provider/ep.cc -- an endpoint's life: made, bound, enabled, closed.
#include "provider/ep.h"

#include <cstring>
#include <mutex>

#include "provider/attr.h"
#include "provider/fabric.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

bool asks_for_one_sided_order(const fi_info& info) noexcept {
  return info.tx_attr && (info.tx_attr->msg_order & kOneSidedOrders) != 0;
}

template <class Object>
void release(Object* object) noexcept {
  if (object) object->drop();
}
template <class Object>
void hold(Object*& slot, Object& object) noexcept {
  release(slot);
  object.keep();
  slot = &object;
}

}  // namespace

Endpoint::Endpoint(Domain& domain, const fi_info& info, void* context)
    : Object(FI_CLASS_EP, endpoint_fid_ops, context),
      domain_(domain),
      transmit_flags_(info.tx_attr ? info.tx_attr->op_flags : 0),
      receive_flags_(info.rx_attr ? info.rx_attr->op_flags : 0),
      caps_(info.caps),
      directed_((info.caps & FI_DIRECTED_RECV) != 0),
      one_sided_ordered_(asks_for_one_sided_order(info)) {
  if (info.src_addr && info.src_addrlen == kAddressBytes) {
    std::memcpy(wanted_name_.raw.data(), info.src_addr, kAddressBytes);
  }
  ops = &endpoint_ops;
  cm = &name_ops;
  msg = &message_ops;
  tagged = &tagged_ops;
  rma = &rma_ops;
  fid_ep::atomic = &atomic_ops;
  collective = &collective_ops;
  domain_.keep();
}

Endpoint::~Endpoint() {
  closing_ = true;
  port_.reset();  // ends open operations; from here on the engine's side runs nothing
  {
    const std::lock_guard gate(domain_.gate());
    if (transmit_queue_) transmit_queue_->forget(*this);
    if (receive_queue_) receive_queue_->forget(*this);
  }
  release(transmit_queue_);
  release(receive_queue_);
  release(av_);
  for (Counter* counter : {send_counter_, receive_counter_, read_counter_, write_counter_,
                           remote_read_counter_, remote_write_counter_}) {
    release(counter);
  }
  domain_.drop();
}

int Endpoint::bind(fid_t object, std::uint64_t flags) {
  switch (object->fclass) {
    case FI_CLASS_AV:
      if (av_) return -FI_EINVAL;
      hold(av_, AddressVector::of(object));
      return 0;
    case FI_CLASS_CQ:
      return bind_queue(CompletionQueue::of(object), flags);
    case FI_CLASS_CNTR:
      return bind_counter(Counter::of(object), flags);
    case FI_CLASS_EQ:
      return 0;  // a connectionless endpoint has no events
    default:
      return -FI_EINVAL;
  }
}

int Endpoint::bind_queue(CompletionQueue& queue, std::uint64_t flags) noexcept {
  constexpr std::uint64_t kKnown = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION;
  if (flags & ~kKnown || !(flags & (FI_TRANSMIT | FI_RECV))) return -FI_EBADFLAGS;
  const std::uint64_t always = flags & FI_SELECTIVE_COMPLETION ? 0 : FI_COMPLETION;
  if (flags & FI_TRANSMIT) {
    if (transmit_queue_) return -FI_EINVAL;
    hold(transmit_queue_, queue);
    transmit_always_ = always;
  }
  if (flags & FI_RECV) {
    if (receive_queue_) return -FI_EINVAL;
    hold(receive_queue_, queue);
    receive_always_ = always;
  }
  return 0;
}

int Endpoint::bind_counter(Counter& counter, std::uint64_t flags) noexcept {
  constexpr std::uint64_t kKnown =
      FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  if (flags & ~kKnown || !flags) return -FI_EBADFLAGS;
  if (flags & FI_SEND) hold(send_counter_, counter);
  if (flags & FI_RECV) hold(receive_counter_, counter);
  if (flags & FI_READ) hold(read_counter_, counter);
  if (flags & FI_WRITE) hold(write_counter_, counter);
  if (flags & FI_REMOTE_READ) hold(remote_read_counter_, counter);
  if (flags & FI_REMOTE_WRITE) hold(remote_write_counter_, counter);
  return 0;
}

int Endpoint::check_bound() const noexcept {
  if (!av_) return -FI_ENOAV;
  const bool sends = (caps_ & (FI_SEND | FI_READ | FI_WRITE)) != 0;
  const bool receives = (caps_ & (FI_MSG | FI_TAGGED)) != 0 && (caps_ & FI_RECV) != 0;
  const bool send_told = transmit_queue_ || send_counter_ || read_counter_ || write_counter_;
  const bool receive_told = receive_queue_ || receive_counter_;
  return (sends && !send_told) || (receives && !receive_told) ? -FI_ENOCQ : 0;
}

int Endpoint::enable() {
  if (port_) return 0;
  if (const int missing = check_bound()) return missing;
  auto port = domain_.engine().open_port({domain_.space()});
  if (!port) {
    tell_user(port.error());
    return -errno_of(port.error().code);
  }
  if (caps_ & (FI_RMA | FI_ATOMIC)) (*port)->on_remote_access(remote_access, this);
  if (is_service_address(wanted_name_)) {
    const Status published = service_.publish(wanted_name_, (*port)->address());
    if (!published) {
      // Programs open several endpoints from one fi_info: the first gets the name.
      FI_WARN(&provider_record(), FI_LOG_EP_CTRL, "%s\n", published.error().text.c_str());
      if (published.error().code != Errc::kRefused) return -errno_of(published.error().code);
    }
  }
  port_ = std::move(*port);
  return 0;
}

int Endpoint::set_operation_flags(std::uint64_t flags, std::uint64_t which) noexcept {
  if (which == FI_TRANSMIT) {
    transmit_flags_ = flags;
  } else if (which == FI_RECV) {
    receive_flags_ = flags;
  } else {
    return -FI_EINVAL;
  }
  return 0;
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_RDM) return -FI_EINVAL;
  return guarded([&] {
    *endpoint = new Endpoint(Domain::of(domain), *info, context);
    return 0;
  });
}

}  // namespace livebtl::fi
