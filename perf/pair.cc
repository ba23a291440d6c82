// SPDX-License-Identifier: BSD-3-Clause
// perf/pair.cc -- see pair.h.
#include "perf/pair.h"

#include <utility>

namespace livebtl::perf {
namespace {

constexpr unsigned kKindBit = 52, kLastBit = 48;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kLastBit) - 1;
/// Fruitless looks between two readings of the clock.
constexpr std::uint32_t kLooksBetween = 4096;

}  // namespace

Tag tag_of(const Label& label) noexcept {
  return (static_cast<Tag>(label.kind) << kKindBit) | (Tag{label.last} << kLastBit) |
         (label.number & kNumberMask);
}

Label label_of(Tag tag) noexcept {
  return {static_cast<Label::Kind>(tag >> kKindBit), tag & kNumberMask,
          ((tag >> kLastBit) & 1) != 0};
}

Pair::Pair(std::shared_ptr<Engine> engine, std::unique_ptr<Port> port, const Destination& other,
           int rank, TimeNs timeout)
    : engine_(std::move(engine)),
      port_(std::move(port)),
      other_(other),
      rank_(rank),
      timeout_(timeout),
      inject_bytes_max_(port_->inject_bytes_max()) {
  engine_->on_event([this](const EngineEvent& event) {
    if (event.kind == EngineEvent::Kind::kSwitched) transport_ = event.transport;
  });
}

Pair::~Pair() {
  engine_->on_event(nullptr);
  port_.reset();  // ends what is still open, before its operations go
}

bool Pair::fail_with(Errc code, const std::string& text) {
  if (!failure_) failure_ = Error{code, text};
  return false;
}

bool Pair::fail_silent() {
  return fail_with(Errc::kTimeout,
                   "no message came through for the time of --timeout" +
                       (transport_.empty() ? std::string(" (none yet)") : ", over " + transport_) +
                       "; `btlctl doctor` says what may be wrong here, LIVEBTL_LOG=info what the "
                       "transports do");
}

/// Drives the engine once. since: when the clock was first read after idle looks; 0: not yet.
bool Pair::look(TimeNs& since) {
  if (engine_->progress() != 0) {
    spins_.found();
    since = 0;
    return true;
  }
  spins_.found_nothing(*engine_);
  if (++looks_in_vain_ % kLooksBetween != 0) return true;
  const TimeNs now = monotonic_now();
  if (since == 0) since = now;
  return now - since < timeout_ || fail_silent();
}

bool Pair::wait(Waitable& operation) {
  if (failure_) return false;
  TimeNs since = 0;
  while (!operation.over.load(std::memory_order_acquire)) {
    if (!look(since)) return false;
  }
  return has_ended_well(operation);
}

bool Pair::wait_for_orders(Waitable& operation) {
  if (failure_) return false;
  while (!operation.over.load(std::memory_order_acquire)) {
    if (engine_->progress() != 0)
      spins_.found();
    else
      spins_.found_nothing(*engine_);
  }
  return has_ended_well(operation);
}

bool Pair::has_ended_well(const Waitable& operation) {
  if (operation.how.code == Errc::kOk) [[likely]]
    return true;
  return fail_with(operation.how.code, std::string("an operation ended with '") +
                                           errc_name(operation.how.code) +
                                           "'; does the other process still run?");
}

bool Pair::begin_send(Waitable& operation, const Label& label, const Slice& slice) {
  SendRequest request;
  request.to = other_;
  request.tag = tag_of(label);
  request.slices = {&slice, 1};
  return begin(operation, [&] { return port_->send(request, operation); });
}

bool Pair::begin_receive(Waitable& operation, Label::Kind kind, const MutableSlice& room) {
  ReceiveRequest request;
  request.from = other_;
  request.tag = tag_of({kind});
  request.ignore = kAnyNumber;
  request.slices = {&room, 1};
  return begin(operation, [&] { return port_->receive(request, operation); });
}

bool Pair::send(const Label& label, const Slice& slice) {
  if (slice.bytes > inject_bytes_max_) return begin_send(sending_, label, slice) && wait(sending_);
  SendRequest request;
  request.to = other_;
  request.tag = tag_of(label);
  request.slices = {&slice, 1};
  const bool begun = begin(sending_, [&] { return port_->inject(request); });
  sending_.over.store(true, std::memory_order_relaxed);
  return begun;
}

bool Pair::is_message(const Waitable& receive, std::uint64_t number, std::size_t bytes,
                      bool& last) {
  const Label found = label_of(receive.how.tag);
  last = found.last;
  if (found.number == number && receive.how.bytes == bytes) [[likely]]
    return true;
  if (found.kind == Label::Kind::kControl && found.number == kGaveUp)
    return fail_with(Errc::kDown, "the other process has given up; it says why");
  return fail_with(Errc::kCorrupt,
                   "message " + std::to_string(number) + " of " + std::to_string(bytes) +
                       " bytes was expected, and number " + std::to_string(found.number) + " of " +
                       std::to_string(receive.how.bytes) +
                       " came: one was lost, repeated or overtaken; please report it");
}

void Pair::close_if_failed() noexcept {
  if (!failure_ || !port_) return;
  SendRequest request;
  request.to = other_;
  request.tag = tag_of({Label::Kind::kControl, kGaveUp});
  (void)port_->inject(
      request);  // if that cannot be told any more, the other one ends by its time-out
  port_.reset();
}

bool Pair::receive(Label::Kind kind, std::uint64_t number, const MutableSlice& room, bool& last) {
  return begin_receive(receiving_, kind, room) && wait(receiving_) &&
         is_message(receiving_, number, room.bytes, last);
}

}  // namespace livebtl::perf
