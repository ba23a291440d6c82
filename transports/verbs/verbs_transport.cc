// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_transport.cc -- opening, connecting, sleeping (see verbs_transport.h);
// progress is in verbs_progress.cc, what the device reports in verbs_events.cc.
#include "transports/verbs/verbs_transport.h"

#include <sys/epoll.h>

#include <cerrno>

#include "base/assert.h"
#include "base/log.h"
#include "base/secret.h"
#include "transports/verbs/verbs_errors.h"
#include "transports/verbs/verbs_nearness.h"

namespace livebtl::verbs {
namespace {

constexpr TimeNs kReopenEvery = kSecond;
constexpr TimeNs kRegisterEvery = kSecond;
/// Users' memory takes at most 1/kLockableShare of what may be locked: the buffers of new
/// connections come first.
constexpr std::size_t kLockableShare = 4;

Status watch(const Fd& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll.number(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return tl::unexpected(cannot_make("a watch on the device's descriptors", errno));
}

}  // namespace

Result<std::unique_ptr<VerbsTransport>> VerbsTransport::make(const core::NodeFacts& facts,
                                                             Calls& calls, const Module& module) {
  LIVEBTL_ASSERT(facts.settings != nullptr, "the facts have settings");
  std::unique_ptr<VerbsTransport> made(new VerbsTransport(facts, calls, module));
  made->epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!made->epoll_) return tl::unexpected(cannot_make("an epoll descriptor", errno));
  if (const Status opened = made->open_device(); !opened) return tl::unexpected(opened.error());
  return made;
}

VerbsTransport::VerbsTransport(const core::NodeFacts& facts, Calls& calls, const Module& module)
    : MessageTransport(facts), calls_(calls), module_(module), random_(random_u64()) {}

// A BYE that is not under way by now may be lost with the device: the peers notice by themselves.
VerbsTransport::~VerbsTransport() {
  LIVEBTL_ASSERT(ends_.empty(), "endpoints are destroyed before their transport");
  close_device();
}

const core::Caps& VerbsTransport::caps() const noexcept { return kVerbsCaps; }

bool VerbsTransport::reaches(Bytes address) const noexcept {
  const auto peer = decode_address(address);
  return peer && may_reach(*peer, address_);
}

// A peer with only one module of that name says nothing about its nearness.
std::uint32_t VerbsTransport::cost(Bytes address) const noexcept {
  return nearness_ ? cost_of(*nearness_, nearness_in(address).value_or(Nearness{})) : 0;
}

Status VerbsTransport::open_device() {
  auto device = Device::open(calls_, module_.wish);
  if (!device) return tl::unexpected(device.error());
  messages::Credits credits;
  while (!credits.has_room()) {
    const auto added = (*device)->add_receives();
    if (!added) return tl::unexpected(added.error());
    credits.add_buffers(*added);
  }
  for (const int fd : {(*device)->completion_fd(), (*device)->event_fd()}) {
    if (Status watched = watch(epoll_, fd); !watched) {
      unwatch(**device);
      return watched;
    }
  }
  credits_ = credits;
  device_ = std::move(*device);
  address_ = device_->port().state.address;
  if (module_.place) {
    nearness_ = {distance_of(module_.system_files, device_->port().device, bound_processors()),
                 *module_.place};
  }
  lost_.clear();
  return {};
}

// A device that was lost may be there again, and a port that was down may be up.
Status VerbsTransport::ensure_ready() {
  if (device_ && lost_.empty()) {
    const Status active = device_->refresh(module_.wish.gid_index);
    if (active) {
      address_ = device_->port().state.address;
      return {};
    }
    if (active.error().code == Errc::kDown) lose_device(active.error().text);
    return fail(Errc::kUnreachable, "verbs: " + device_->name() + ": " + active.error().text);
  }
  if (device_ || now_ < reopen_at_)
    return fail(Errc::kUnreachable, "verbs: the device is lost: " + lost_);
  reopen_at_ = now_ + kReopenEvery;
  return open_device();
}

// A loss is reported before the device is looked for, which waits until progress() has released it.
Status VerbsTransport::usable() {
  if (const std::string loss = std::exchange(untold_, ""); !loss.empty())
    return fail(Errc::kUnreachable, "verbs: the device is lost: " + loss);
  if (!device_) reopen_at_ = now_;
  return ensure_ready();
}

Result<std::unique_ptr<VerbsEndpoint>> VerbsTransport::make_endpoint(bool dialled) {
  if (const Status ready = ensure_ready(); !ready) return tl::unexpected(ready.error());
  if (ends_.size() + parked_.size() >= device_->connections_max())
    return fail(Errc::kLimit,
                "verbs: " + device_->name() + " has reached its limit of connections");
  if (!credits_.has_room()) {
    const auto added = device_->add_receives();
    if (!added) return tl::unexpected(added.error());
    credits_.add_buffers(*added);
  }
  constexpr std::uint64_t kPackets = 1u << 24;
  auto pair = QueuePair::make(*device_, static_cast<std::uint32_t>(random_.below(kPackets)));
  if (!pair) return tl::unexpected(pair.error());
  return std::make_unique<VerbsEndpoint>(*this, std::move(*pair), dialled);
}

Result<std::unique_ptr<core::Endpoint>> VerbsTransport::connect(Bytes address) {
  if (const auto peer = decode_address(address); !peer) return tl::unexpected(peer.error());
  return make_endpoint(true);
}

Result<std::unique_ptr<core::Endpoint>> VerbsTransport::admit(Bytes ticket) {
  const auto peer = decode_ticket(ticket);
  if (!peer) return tl::unexpected(peer.error());
  if (is_crowded()) return fail(Errc::kLimit, "verbs: too many connections wait for a hello");
  auto made = make_endpoint(false);
  if (!made) return tl::unexpected(made.error());
  if (const Status connected = (*made)->connect(*peer); !connected)
    return tl::unexpected(connected.error());
  return made;
}

std::vector<int> VerbsTransport::descriptors() const {
  std::vector<int> all{epoll_.number()};
  if (!device_) return all;
  const std::vector<int> device = device_->descriptors();
  all.insert(all.end(), device.begin(), device.end());
  return all;
}

std::size_t VerbsTransport::pinned_bytes() const noexcept {
  return registered_ + (device_ ? device_->pinned_bytes() : 0);
}

// First asks for an event, then looks once more: one of the two shows what comes in between.
bool VerbsTransport::arm() noexcept {
  if (!unsettled_.empty() || seen_count_ != 0) return false;
  if (!device_) return true;
  if (!lost_.empty()) return false;  // progress() releases it
  armed_ = true;
  if (calls_.req_notify_cq(device_->completions()) != 0) return false;
  seen_count_ = std::max(
      0, calls_.poll_cq(device_->completions(), static_cast<int>(seen_.size()), seen_.data()));
  return seen_count_ == 0;
}

// Nothing else tells that a silent peer has gone; a sleeping process seldom asks. A parting causes
// no event either.
TimeNs VerbsTransport::wake_at() const noexcept {
  if (!device_) return kNoDeadline;
  if (!parked_.empty()) return now_ + kMillisecond;
  return ends_.empty() ? kNoDeadline : now_ + messages::kAskAsleepEvery;
}

void VerbsTransport::park(std::unique_ptr<QueuePair> pair, std::uint32_t open_grants, bool parting,
                          std::optional<std::uint32_t> held) noexcept {
  parked_.push_back({std::move(pair), open_grants, 0, 0, held});
  if (!parting) break_up(parked_.back());
}

// Memory that cannot be locked now usually cannot be a moment later either: asking for each payload
// would cost more than it could save.
Registration VerbsTransport::register_user(Bytes memory, int access, bool& refused) noexcept {
  const std::size_t most = calls_.lockable_bytes() / kLockableShare;
  if (!lost_.empty() || now_ < register_after_ || registered_ + memory.size() > most) return {};
  void* const begin = const_cast<std::byte*>(memory.data());  // written if `access` says so
  ibv_mr* const region = calls_.reg_mr(device_->domain(), begin, memory.size(), access);
  if (region != nullptr) {
    registered_ += region->length;
    return {region, EndRegistration{&calls_, &registered_}};
  }
  const Error why = cannot_register(memory.size(), errno);
  refused = true;
  register_after_ = now_ + kRegisterEvery;
  if (!std::exchange(refusal_told_, true)) {
    log(LogLevel::kWarn, "verbs", "some large messages are copied, which is slower: %s",
        why.text.c_str());
  }
  return {};
}

}  // namespace livebtl::verbs
