// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_network.cc -- dialling, wires, and what breaks them.
#include "tests/sim/network/sim_network.h"

#include <algorithm>

#include "core/lane/frame.h"
#include "core/path/fast_box.h"
#include "tests/sim/network/sim_transport.h"

namespace livebtl::sim {
namespace {

/// They differ in everything that an engine may confuse.
constexpr core::Caps caps(bool keeps, std::uint32_t exclusivity, std::uint32_t payload_max,
                          std::uint32_t eager_max) {
  core::Caps made;
  made.payload_bytes_max = payload_max;
  made.eager_bytes_max = eager_max;
  made.keeps = keeps;
  made.same_node_only = !keeps;
  made.zero_copy_bytes_min = keeps ? 0 : eager_max + 1;
  made.zero_copy_bytes_max = keeps ? 0 : 24'000;
  made.exclusivity = exclusivity;
  made.latency_ns = keeps ? 10'000 : 500;
  made.bandwidth_mbps = keeps ? 10'000 : 100'000;
  return made;
}

}  // namespace

const std::vector<SimKind>& sim_kinds() {
  static const std::vector<SimKind> kinds = {
      {"alpha", caps(true, 20, 8400, 2048), 8 * kMicrosecond},
      {"beta", caps(true, 10, 12'000, 1024), 40 * kMicrosecond},
      {"gamma", caps(false, 30, 9000, 4096), kMicrosecond}};
  return kinds;
}

SimNetwork::SimNetwork(SimClock& clock, std::uint64_t seed, FaultPlan plan, int wait_fd)
    : clock_(clock), random_(seed), plan_(plan), wait_fd_(wait_fd) {}

SimNetwork::~SimNetwork() {
  LIVEBTL_ASSERT(transports_.empty(), "every transport is destroyed before the network");
}

std::vector<core::TransportKind> SimNetwork::kinds() {
  std::vector<core::TransportKind> made;
  for (const SimKind& kind : sim_kinds()) {
    made.push_back(
        {kind.name, "",
         [this, &kind](const core::NodeFacts& facts) -> Result<std::unique_ptr<core::Transport>> {
           if (random_.chance(plan_.open_refused)) {
             counts_.note(Fault::kOpenRefused);
             return fail(Errc::kNoMemory, "the simulated device cannot be opened now");
           }
           return std::make_unique<SimTransport>(*this, kind, facts);
         }});
  }
  return made;
}

void SimNetwork::enter(SimTransport& transport) {
  const auto [at, fresh] = transports_.emplace(
      std::pair{std::string(transport.name()), transport.process()}, &transport);
  LIVEBTL_ASSERT(fresh, "a process opens a transport once");
  static_cast<void>(at);
}

void SimNetwork::leave(SimTransport& transport) noexcept {
  transports_.erase({std::string(transport.name()), transport.process()});
}

SimTransport* SimNetwork::find(const std::string& name, ProcessId process) const {
  const auto at = transports_.find({name, process});
  return at != transports_.end() ? at->second : nullptr;
}

TimeNs SimNetwork::soon(TimeNs about) {
  return clock_.now() + 1 +
         static_cast<TimeNs>(random_.below(static_cast<std::uint64_t>(2 * about)));
}

TimeNs SimNetwork::delay_of(const std::string& transport) {
  for (const SimKind& kind : sim_kinds()) {
    if (kind.name != transport) continue;
    if (!random_.chance(plan_.stall))
      return kind.delay / 2 +
             static_cast<TimeNs>(random_.below(static_cast<std::uint64_t>(kind.delay)));
    counts_.note(Fault::kStall);
    return kind.delay * static_cast<TimeNs>(10 + random_.below(1000));
  }
  return 0;
}

bool SimNetwork::in_outage(const std::string& transport, ProcessId one, ProcessId other) const {
  const auto at = outages_.find({transport, std::minmax(one, other)});
  return at != outages_.end() && at->second > clock_.now();
}

Result<Connection*> SimNetwork::dial(SimTransport& from, ProcessId to) {
  const std::string name(from.name());
  if (random_.chance(plan_.refuse / 2)) {
    counts_.note(Fault::kRefuse);
    return fail(Errc::kUnreachable, "the simulated network is unreachable");
  }
  auto connection = std::make_unique<Connection>();
  connection->number = next_number_++;
  connection->transport = name;
  connection->keeps = from.caps().keeps;
  for (auto& box : connection->boxes)
    box = connection->keeps ? nullptr : std::make_unique<SimBox>();
  connection->asks_at = clock_.now() + delay_of(name);
  connection->halves[0].process = from.process();
  connection->halves[1].process = to;
  const bool refused = random_.chance(plan_.refuse / 2);
  if (refused || dead_.contains(to) || in_outage(name, from.process(), to)) {
    counts_.note(Fault::kRefuse, refused ? 1 : 0);
    connection->broken = true;
    connection->halves[0].sees_down = connection->asks_at + delay_of(name);
    connection->halves[0].why = {Errc::kRefused, "the simulated connection was refused"};
  }
  connections_.push_back(std::move(connection));
  return connections_.back().get();
}

Connection* SimNetwork::incoming(const SimTransport& to) const {
  for (const auto& connection : connections_) {
    const Half& acceptor = connection->halves[1];
    if (connection->broken || acceptor.closed || acceptor.end != nullptr) continue;
    if (acceptor.process != to.process() || connection->transport != to.name()) continue;
    if (connection->asks_at <= clock_.now()) return connection.get();
  }
  return nullptr;
}

Connection* SimNetwork::next_incoming(SimTransport& to) {
  Connection* const connection = incoming(to);
  if (connection == nullptr) return nullptr;
  connection->halves[0].open_at = clock_.now() + delay_of(connection->transport);
  connection->halves[1].open_at = clock_.now();
  return connection;
}

void SimNetwork::put_on_wire(Connection& connection, int from, Parcel parcel) {
  Half& half = connection.halves[from];
  const Half& to = connection.halves[1 - from];
  parcel.order = ++last_put_[{half.process, to.process}];
  if (connection.broken || to.closed || dead_.contains(half.process)) {
    counts_.note(Fault::kDrop);
    return;
  }
  parcel.arrives = std::max(half.last_arrival, clock_.now() + delay_of(connection.transport));
  half.last_arrival = parcel.arrives;
  half.wire.push_back(std::move(parcel));
}

// Every message there is reported as the frame that it stands for.
void SimNetwork::boxed(Connection& connection, int side) {
  SimBox& box = *connection.boxes[side];
  Half& half = connection.halves[side];
  half.box_due = true;
  for (std::size_t i = 0; i < core::kBoxSlots; ++i) {
    const core::BoxWord found{box.slots[i].word};
    if (std::exchange(box.heard[i], found.word) == found.word || found.word == 0) continue;
    ++boxed_messages_;
    const core::Header<core::MessageBody> header{
        {core::FrameKind::kEager, found.flags(), 0, found.target_port(), found.source_port(),
         std::max<std::uint64_t>(1, found.word & core::kBoxSeqMask), 0},
        {box.slots[i].tag, box.slots[i].data}};
    if (on_post)
      on_post({half.process, connection.halves[1 - side].process, connection.transport,
               bytes_of(header), connection.broken});
  }
}

void SimNetwork::delivered(const Connection& connection, int to, const Parcel& parcel) {
  const Half& from = connection.halves[1 - to];
  std::uint64_t& highest = highest_delivered_[{from.process, connection.halves[to].process}];
  if (parcel.order < highest) counts_.note(Fault::kReorder);
  highest = std::max(highest, parcel.order);
  if (connection.severed) counts_.note(Fault::kDuplicate);
}

void SimNetwork::closed(Connection& connection, int side) {
  Half& half = connection.halves[side];
  Half& other = connection.halves[1 - side];
  half.end = nullptr;
  half.closed = true;
  other.wire.clear();
  if (connection.broken) return;
  connection.broken = true;
  // A close may reset a connection that can lose frames, and cost it its last frames.
  if (connection.keeps && random_.chance(0.3)) cut_wire(half);
  other.sees_down = std::max(half.last_arrival, clock_.now() + delay_of(connection.transport));
  other.after_wire = true;
  other.why = {Errc::kDown, "the other end closed the simulated connection"};
}

TimeNs SimNetwork::next_event(ProcessId process) const {
  TimeNs next = kNever;
  for (const auto& connection : connections_) {
    for (int side = 0; side < 2; ++side) {
      const Half& half = connection->halves[side];
      if (half.process != process || half.closed) continue;
      const Half& other = connection->halves[1 - side];
      if (half.end != nullptr) {
        next = std::min(next, half.sees_down);
        if (!other.wire.empty()) next = std::min(next, other.wire.front().arrives);
        if (other.box_due) next = std::min(next, clock_.now());
        // If full: the other end may have been stopped for seconds.
        const TimeNs room = half.wire.size() < kWireMax ? 0 : 100 * kMicrosecond;
        if (half.end->can_move() && !connection->broken) next = std::min(next, clock_.now() + room);
      }
      if (side == 0 && half.open_at != kNever && half.open_at > clock_.now())
        next = std::min(next, half.open_at);
      if (side == 1 && half.end == nullptr && !connection->broken)
        next = std::min(next, connection->asks_at);
    }
  }
  return next;
}

std::string SimNetwork::find_on_wire(const std::function<std::string(Bytes header)>& name) const {
  for (const auto& connection : connections_) {
    for (int side = 0; side < 2; ++side) {
      const Half& from = connection->halves[side];
      const Half& to = connection->halves[1 - side];
      if (connection->broken || dead_.contains(from.process) || dead_.contains(to.process))
        continue;
      if (took_leave(to.process, from.process)) continue;
      for (const Parcel& parcel : from.wire) {
        const std::string found = name(parcel.header);
        if (found.empty()) continue;
        return found + " from " + std::to_string(static_cast<std::uint64_t>(from.process)) +
               " to " + std::to_string(static_cast<std::uint64_t>(to.process)) + " on " +
               connection->transport;
      }
    }
  }
  return "";
}

std::size_t SimNetwork::open_endpoints(ProcessId process, const std::string& transport) const {
  const SimTransport* const at = find(transport, process);
  return at != nullptr ? at->endpoints() : 0;
}

}  // namespace livebtl::sim
