// SPDX-License-Identifier: BSD-3-Clause
// core/bml/connector.cc -- see connector.h.
#include "core/bml/connector.h"

#include "base/assert.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/bml/probes.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/lane/send.h"
#include "core/switch/hold.h"
#include "core/switch/returning.h"
#include "core/switch/switching.h"

namespace livebtl::core {
namespace {

constexpr TimeNs kHelloTriedAgain = 10 * kMillisecond;

}  // namespace

Path& Connector::begin(Peer& peer, TransportSlot& slot, std::unique_ptr<Endpoint> endpoint) {
  auto made = std::make_unique<Path>(parts_.path, slot, std::move(endpoint), true,
                                     context_.now + kHelloTimeout);
  Path& path = *made;
  path.peer = &peer;
  do {
    path.id = context_.random.next();
  } while (path.id == 0);
  const auto replaced = peer.lost_paths.find(slot.name());
  const std::uint64_t replaces = replaced == peer.lost_paths.end() ? 0 : replaced->second;
  path.handshake = std::make_unique<Handshake>(
      Handshake::dial(context_.config.secret, facts(&peer, path.id, replaces), peer.process));
  path.told_addresses = parts_.slots.addresses_version();
  path.hello_out = path.handshake->start().send;
  flush_hello(path);  // some transports send it with what makes the connection
  if (path.hello_out) hellos_due_.push_back(&path);
  peer.paths.push_back(std::move(made));
  parts_.peers.meet(peer);
  return path;
}

void Connector::take_in(TransportSlot& slot, std::unique_ptr<Endpoint> endpoint,
                        ProcessId admitted_for) noexcept {
  auto path = std::make_unique<Path>(parts_.path, slot, std::move(endpoint), false,
                                     context_.now + kHelloTimeout);
  path->handshake = std::make_unique<Handshake>(
      Handshake::accept(context_.config.secret, {context_.config.job, context_.config.process}));
  path->admitted_for = admitted_for;
  unauthenticated_.push_back(std::move(path));
}

void Connector::on_hello(Path& path, Bytes payload) noexcept {
  if (!path.handshake)
    return path.break_down({Errc::kCorrupt, "a hello on a path that is open already"});
  // Read more than once, and may lie in memory that the peer can still change.
  const Blob copy(payload.begin(), payload.end());
  take_step(path, path.handshake->receive(copy));
}

void Connector::turn() noexcept {
  std::vector<Path*> due;
  due.swap(hellos_due_);
  for (Path* path : due) {
    if (path->down() || gave_way(*path)) continue;
    if (path->hello_out) flush_hello(*path);
    if (!path->hello_out && path->handshake && path->handshake->open()) opened(*path);
    if (!path->down() && path->hello_out) hellos_due_.push_back(path);
  }
}

void Connector::keep_time() noexcept {
  for (auto& path : unauthenticated_) {
    if (context_.now <= path->deadline || path->down()) continue;
    log_refused(*path, "it sent no valid hello in time");
    path->break_down({Errc::kTimeout, "no hello in time"});
  }
}

// A hello waits until its connection is made. A transport's descriptor signals that; where it does
// not, the post is tried again now and then.
TimeNs Connector::due_at() const noexcept {
  TimeNs due = hellos_due_.empty() ? kNoDeadline : context_.now + kHelloTriedAgain;
  for (const auto& path : unauthenticated_) due = std::min(due, path->deadline + 1);
  return due;
}

std::unique_ptr<Path> Connector::release(Path& path) noexcept {
  std::erase(hellos_due_, &path);
  return take_out(unauthenticated_, path);
}

void Connector::close_unauthenticated(const TransportSlot* slot, const char* why) noexcept {
  for (auto& path : unauthenticated_) {
    if (slot != nullptr && &path->slot != slot) continue;
    path->break_down({Errc::kCancelled, why});
  }
}

void Connector::clear() noexcept {
  hellos_due_.clear();
  unauthenticated_.clear();
}

/// peer: null if there is no record of it yet.
HelloFacts Connector::facts(const Peer* peer, std::uint64_t path, std::uint64_t replaces) const {
  const std::uint64_t first = context_.config.first_seq;
  return {.job = context_.config.job,
          .process = context_.config.process,
          .incarnation = context_.fence.own(),
          .node = context_.config.node,
          .label = context_.config.label,
          .epoch = parts_.switching.report().epoch,
          .rung = static_cast<std::uint8_t>(parts_.switching.report().rung),
          .path = path,
          .replaces = replaces,
          .next_expected = peer != nullptr ? peer->rx.reorder.expected() : first,
          .acknowledged = peer != nullptr ? peer->tx.acked : first,
          .credit_bytes = context_.config.settings.credit_bytes,
          .credit_headers = context_.config.settings.credit_headers,
          .addresses = parts_.slots.addresses_to_tell()};
}

void Connector::flush_hello(Path& path) noexcept {
  const FrameHead head{FrameKind::kHello, 0, 0, 0, 0, 0, 0};
  if (path.endpoint->post({bytes_of(head), *path.hello_out, 0, false}) != Post::kRetry)
    path.hello_out.reset();
}

namespace {

/// Has another path of the pair by this transport opened while this one said hello? Of two dials
/// that cross, the later must go before it is welcomed: until then it carries nothing.
bool superseded(const Path& path, const Peer* peer, ProcessId own) noexcept {
  if (path.dialled || peer == nullptr || peer->process == own) return false;
  const std::uint64_t replaces = path.handshake->peer().replaces;
  return std::ranges::any_of(peer->paths, [&](const auto& other) {
    return &other->slot == &path.slot && other->open() && !other->closing && other->id != replaces;
  });
}

}  // namespace

// Checked again while the welcome waits to be posted: the other path may open meanwhile.
bool Connector::gave_way(Path& path) noexcept {
  if (!path.handshake || !path.handshake->open() || is_fenced_off(path) ||
      !superseded(path, parts_.peers.find(path.handshake->peer().process), context_.config.process))
    return false;
  path.break_down({Errc::kRefused, "another path to this peer opened first"});
  return true;
}

// in: the handshake's step after a message. out: an answer is on its way, or the path is open or
// going down.
void Connector::take_step(Path& path, Handshake::Step step) noexcept {
  if (step.ask) step = answer_hello(path);
  if (gave_way(path)) return;
  // The challenge that this answers has proved the other end's incarnation.
  const bool proves = path.dialled && step.send && step.refused == RefuseReason::kNone;
  if (proves && path.handshake->peer().incarnation > context_.fence.own()) return fenced_off(path);
  if (step.send) {
    path.hello_out = std::move(step.send);
    flush_hello(path);
    if (path.hello_out) hellos_due_.push_back(&path);
  }
  if (step.refused != RefuseReason::kNone) return refused(path, step);
  // Data must not overtake our welcome: if it is not posted yet, turn() opens the path after it.
  if (step.open && !path.hello_out) opened(path);
}

// in: an accepted path whose other end says who it is: it knows the secret, or replays the message
// of a process that does. out: our challenge, or a refusal. No record of it is made before it has
// proved that it is alive.
Handshake::Step Connector::answer_hello(Path& path) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  Peer* known = parts_.peers.find(theirs.process);
  const RefuseReason reason = judge_hello(path, known);
  if (reason == RefuseReason::kNone) {
    HelloFacts ours = facts(known, theirs.path, 0);
    path.told_addresses = parts_.slots.addresses_version();
    return path.handshake->answer(std::move(ours));
  }
  std::vector<std::string> instead;
  for (const auto& slot : parts_.slots.all()) {
    if (slot->open()) instead.push_back(slot->name());
  }
  return path.handshake->refuse(reason, instead);
}

// Two processes may dial each other at once. The dial of the lower process id stays; an open path
// stays unless the dialler says that it has lost that very path.
RefuseReason Connector::judge_hello(Path& path, const Peer* peer) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  if (context_.fence.out()) return RefuseReason::kNotNow;
  if (peer != nullptr && peer->lost) return RefuseReason::kInconsistent;
  if (!parts_.switching.accepts(path.slot.name())) return RefuseReason::kNotNow;
  if (peer == nullptr) return RefuseReason::kNone;
  if (peer->process == context_.config.process) {
    // Ourselves, or a process that exists twice: only we know the id of the path that we dial.
    const bool ours = std::ranges::any_of(
        peer->paths, [&](const auto& each) { return each->dialled && each->id == theirs.path; });
    return ours ? RefuseReason::kNone : RefuseReason::kNotMe;
  }
  // A copy that another has replaced: what follows shows the older one that it is fenced out.
  if (is_fenced_off(path)) return RefuseReason::kNone;
  for (auto& other : peer->paths) {
    if (&other->slot != &path.slot || other->down()) continue;
    if (other->open()) {
      if (theirs.replaces != other->id && !other->closing) {
        parts_.probes.probe(*other);  // shows whether it is dead after all
        return RefuseReason::kDuplicate;
      }
    } else if (context_.config.process < peer->process) {
      return RefuseReason::kDuplicate;
    }
  }
  return RefuseReason::kNone;
}

void Connector::refused(Path& path, const Handshake::Step& step) noexcept {
  if (step.refused_by_peer && path.peer != nullptr) {
    log(LogLevel::kInfo, "engine", "%s refused a path by %s: %s", path.peer->name().c_str(),
        path.slot.name().c_str(), step.text.c_str());
    if (step.refused == RefuseReason::kInconsistent) path.peer->fatal_refusal = step.text;
  } else if (step.refused == RefuseReason::kNotAuthentic ||
             step.refused == RefuseReason::kMalformed || step.refused == RefuseReason::kWrongJob) {
    log_refused(path, step.text);
  }
  path.refusal = step.refused;
  path.break_down({Errc::kRefused, step.text});
}

// One end was left behind when the job was restored, or has just joined the job.
void Connector::fenced_off(Path& path) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  const Incarnation own = context_.fence.own();
  const bool joins = std::min(theirs.incarnation, own) == Incarnation{};
  log(joins ? LogLevel::kInfo : LogLevel::kWarn, "engine",
      "no path by %s: %s answers as incarnation %u, and this is %u", path.slot.name().c_str(),
      theirs.label.c_str(), static_cast<unsigned>(theirs.incarnation), static_cast<unsigned>(own));
  path.break_down({Errc::kRefused, "it is of another incarnation of the job"});
  parts_.hold.meets(theirs.incarnation);
}

void Connector::log_refused(const Path& path, const std::string& text) noexcept {
  if (!refusals_logged_.allow(context_.now)) return;  // a flood must not fill the log
  log(LogLevel::kWarn, "engine",
      "dropped an unauthenticated connection, %s: %s (%llu such lines withheld)",
      path.endpoint->describe().c_str(), text.c_str(),
      static_cast<unsigned long long>(refusals_logged_.suppressed()));
}

namespace {

/// May the pair go on? A process that only lost a path knows at least what it sent and what it
/// acknowledged; one that was set back to an earlier moment without us does not. Its next_expected
/// may be older than its own acknowledgements: it detects for itself that it has forgotten frames.
bool streams_fit(const Peer& peer, const HelloFacts& theirs) noexcept {
  return theirs.next_expected <= peer.tx.next_seq &&
         theirs.acknowledged <= peer.rx.reorder.expected();
}

}  // namespace

/// Is the other end of another incarnation of the job? One that has none yet adopts ours.
bool Connector::is_fenced_off(const Path& path) const noexcept {
  const Incarnation theirs = path.handshake->peer().incarnation;
  return std::min(theirs, context_.fence.own()) != Incarnation{} && theirs != context_.fence.own();
}

// in: a path whose two ends are proved. out: it belongs to its peer, and is used if the routing
// says so.
void Connector::opened(Path& path) noexcept {
  const HelloFacts theirs = path.handshake->peer();
  if (theirs.incarnation != context_.fence.own()) return fenced_off(path);
  Peer& record = parts_.peers.record(theirs.process);
  // Its death was proved while its last message of this handshake was on its way.
  if (record.lost) return path.break_down({Errc::kPeerLost, "the peer is lost"});
  if (!streams_fit(record, theirs)) {
    path.break_down({Errc::kPeerLost, "the two ends of the pair disagree on what was sent"});
    return parts_.losses.lose_peer(
        record, "its stream does not match ours (restored from a snapshot of another moment?)");
  }
  adopt_path(path, record);
  path.state = Path::State::kOpen;
  path.confirmed = path.dialled || path.keeps;
  path.probe_due = path.dialled && !path.keeps;  // the first frame, which confirms it
  path.endpoint->trust();
  path.box = path.endpoint->fast_box();
  path.heard = context_.now;
  path.peer_next = theirs.next_expected;
  path.id = theirs.path;
  path.handshake.reset();
  parts_.peers.remember(record, theirs);
  record.dials.on_open();
  record.lost_paths.erase(path.slot.name());
  path.losses_due = !record.lost_paths.empty();
  parts_.returning.note_open(record, path.slot);
  if (path.keeps && !record.tx.window)
    record.tx.window = std::make_unique<Window>(context_.config.settings.window_bytes);
  ++record.generation;
  log(LogLevel::kInfo, "engine", "path to %s by %s is open: %s", record.name().c_str(),
      path.slot.name().c_str(), path.endpoint->describe().c_str());
  parts_.elector.elect(record);
  // Announcements that still wait, or are sent again, are older than our hello: a newer one must
  // follow them.
  const bool news = path.told_addresses != parts_.slots.addresses_version();
  if (record.process != context_.config.process && (news || !record.knows_our_addresses()))
    parts_.sender.queue_addresses(record, encode_addresses(parts_.slots.addresses_to_tell()));
  parts_.sender.mark_dirty(record);
}

// A dialled path belongs to its peer already; an accepted one moves over from the unauthenticated
// paths and ends the path that it replaces.
void Connector::adopt_path(Path& path, Peer& record) noexcept {
  if (path.dialled) return;
  std::unique_ptr<Path> adopted = release(path);
  LIVEBTL_ASSERT(adopted, "an accepted path is unauthenticated until it is open");
  if (record.process != context_.config.process) {
    for (auto& other : record.paths) {
      if (&other->slot == &path.slot && !other->down())
        other->break_down({Errc::kDown, "the peer replaced this path by a new one"});
    }
  }
  path.peer = &record;
  record.paths.push_back(std::move(adopted));
  parts_.peers.meet(record);
}

}  // namespace livebtl::core
