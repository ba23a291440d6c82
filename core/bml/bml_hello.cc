// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml_hello.cc -- how a path of the BML begins: the dial, the accept, the hellos that prove
// both ends, and which of two dials that cross stays. Ends where the path is open and its peer's.
#include "base/log.h"
#include "core/engine/core.h"

namespace livebtl::core {

HelloFacts Bml::facts(const Peer& peer, std::uint64_t path, std::uint64_t replaces) const {
  HelloFacts mine;
  mine.job = core_.config.job;
  mine.process = core_.config.process;
  mine.incarnation = core_.fence.own();
  mine.node = core_.config.node;
  mine.label = core_.config.label;
  mine.epoch = core_.switching.report().epoch;
  mine.rung = static_cast<std::uint8_t>(core_.switching.report().rung);
  mine.path = path;
  mine.replaces = replaces;
  mine.next_expected = peer.rx.reorder.expected();
  mine.acknowledged = peer.tx.acked;
  mine.credit_bytes = core_.config.settings.credit_bytes;
  mine.credit_headers = core_.config.settings.credit_headers;
  mine.addresses = own_addresses();
  return mine;
}

void Bml::on_accept(std::unique_ptr<Endpoint> endpoint) noexcept {
  take_in(*accepting_, std::move(endpoint));
}

void Bml::take_in(TransportSlot& slot, std::unique_ptr<Endpoint> endpoint,
                  ProcessId admitted_for) noexcept {
  auto path =
      std::make_unique<Path>(core_, slot, std::move(endpoint), false, core_.now + kHelloTimeout);
  path->handshake = std::make_unique<Handshake>(Handshake::accept(core_.config.secret));
  path->admitted_for = admitted_for;
  strangers_.push_back(std::move(path));
}

void Bml::on_hello(Path& path, Bytes payload) noexcept {
  if (!path.handshake)
    return path.break_down({Errc::kCorrupt, "a hello on a path that is open already"});
  take_step(path, path.handshake->receive(payload));
}

void Bml::flush_hello(Path& path) noexcept {
  const FrameHead head{FrameKind::kHello, 0, 0, 0, 0, 0, 0};
  if (path.endpoint->post({bytes_of(head), *path.hello_out, 0, false}) != Post::kRetry)
    path.hello_out.reset();
}

namespace {

/// Has another path of the pair by this transport opened while this one said hello? Of two dials
/// that cross the later one must go before it is welcomed: it carries nothing yet.
bool superseded(const Path& path, const Peer* peer, ProcessId own) noexcept {
  if (path.dialled || peer == nullptr || peer->process == own) return false;
  const std::uint64_t replaces = path.handshake->peer().replaces;
  return std::any_of(peer->paths.begin(), peer->paths.end(), [&](const auto& other) {
    return &other->slot == &path.slot && other->open() && !other->closing && other->id != replaces;
  });
}

}  // namespace

// Asked again as long as the welcome waits to be posted: the other path may open meanwhile.
bool Bml::gave_way(Path& path) noexcept {
  if (!path.handshake || !path.handshake->open() ||
      !superseded(path, find_peer(path.handshake->peer().process), core_.config.process))
    return false;
  path.break_down({Errc::kRefused, "another path to this peer opened first"});
  return true;
}

// in: what the handshake says after a message. out: an answer is on its way, or the path is open
// or going down.
void Bml::take_step(Path& path, Handshake::Step step) noexcept {
  if (step.ask) step = answer_hello(path);
  if (gave_way(path)) return;
  // The challenge that this answers has proved which incarnation dwells there.
  const bool proves = path.dialled && step.send && step.refused == RefuseReason::kNone;
  if (proves && path.handshake->peer().incarnation > core_.fence.own()) return fenced_off(path);
  if (step.send) {
    path.hello_out = std::move(step.send);
    flush_hello(path);
    if (path.hello_out) greeting_.push_back(&path);
  }
  if (step.refused != RefuseReason::kNone) return refused(path, step);
  // Data must not overtake our welcome: if that is not posted yet, greet() opens the path behind
  // it.
  if (step.open && !path.hello_out) opened(path);
}

// in: a stranger that says who he is, not proved yet. out: our challenge, or a refusal.
Handshake::Step Bml::answer_hello(Path& path) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  Peer& record = peer(theirs.process);
  const RefuseReason reason = judge_hello(path, record);
  path.told_addresses = addresses_version_;
  if (reason == RefuseReason::kNone) return path.handshake->answer(facts(record, theirs.path, 0));
  std::vector<std::string> instead;
  for (const auto& slot : slots_) {
    if (slot->open()) instead.push_back(slot->name());
  }
  return path.handshake->refuse(reason, instead);
}

// Two processes may dial each other at once. The dial of the lower process id stays; a path that is
// open stays unless the dialler says that it lost just that one.
RefuseReason Bml::judge_hello(Path& path, Peer& peer) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  if (core_.fence.out()) return RefuseReason::kNotNow;
  if (peer.lost) return RefuseReason::kInconsistent;
  if (!core_.switching.accepts(path.slot.name())) return RefuseReason::kNotNow;
  if (peer.process == core_.config.process) {
    // Ourselves, or a process that exists twice: only we know the id of the path that we are
    // dialling.
    const bool ours = std::any_of(peer.paths.begin(), peer.paths.end(), [&](const auto& each) {
      return each->dialled && each->id == theirs.path;
    });
    return ours ? RefuseReason::kNone : RefuseReason::kNotMe;
  }
  for (auto& other : peer.paths) {
    if (&other->slot != &path.slot || other->state == Path::State::kDown) continue;
    if (other->open()) {
      if (theirs.replaces != other->id && other->closing == false) {
        probe(*other);  // if it is dead after all, that will show
        return RefuseReason::kDuplicate;
      }
    } else if (core_.config.process < peer.process) {
      return RefuseReason::kDuplicate;
    }
  }
  return RefuseReason::kNone;
}

void Bml::refused(Path& path, const Handshake::Step& step) noexcept {
  if (step.refused_by_peer && path.peer != nullptr) {
    log(LogLevel::kInfo, "engine", "%s refused a path by %s: %s", path.peer->name().c_str(),
        path.slot.name().c_str(), step.text.c_str());
    if (step.refused == RefuseReason::kInconsistent) path.peer->fatal_refusal = step.text;
  } else if (step.refused == RefuseReason::kNotAuthentic ||
             step.refused == RefuseReason::kMalformed || step.refused == RefuseReason::kWrongJob) {
    log_refused_stranger(path, step.text);
  }
  path.refusal = step.refused;
  path.break_down({Errc::kRefused, step.text});
}

// One of the two was left behind when the job was restored, or has just joined it.
void Bml::fenced_off(Path& path) noexcept {
  const HelloFacts& theirs = path.handshake->peer();
  const Incarnation own = core_.fence.own();
  const bool joins = std::min(theirs.incarnation, own) == Incarnation{};
  log(joins ? LogLevel::kInfo : LogLevel::kWarn, "engine",
      "no path by %s: %s answers as incarnation %u, and this is %u", path.slot.name().c_str(),
      theirs.label.c_str(), static_cast<unsigned>(theirs.incarnation), static_cast<unsigned>(own));
  path.break_down({Errc::kRefused, "it is of another incarnation of the job"});
  core_.hold.meets(theirs.incarnation);
}

void Bml::log_refused_stranger(const Path& path, const std::string& text) noexcept {
  if (core_.now - stranger_logged_ < kSecond && stranger_logged_ != 0)
    return;  // a flood must not fill the log
  stranger_logged_ = core_.now;
  log(LogLevel::kWarn, "engine", "dropped a stranger on %s: %s", path.endpoint->describe().c_str(),
      text.c_str());
}

// May the pair go on? A process that only lost a path knows at least what it sent and what it
// acknowledged; one that was set back to an earlier moment, without us, does not. What it says that
// it expects may be older than its acknowledgements, so that it has forgotten frames it finds
// itself.
bool Bml::streams_fit(const Peer& peer, const HelloFacts& theirs) const noexcept {
  return theirs.next_expected <= peer.tx.next_seq &&
         theirs.acknowledged <= peer.rx.reorder.expected();
}

// in: a path whose both ends are proved. out: it belongs to its peer and is used if the routing
// says so.
void Bml::opened(Path& path) noexcept {
  const HelloFacts theirs = path.handshake->peer();
  if (theirs.incarnation != core_.fence.own()) return fenced_off(path);
  Peer& record = peer(theirs.process);
  if (!streams_fit(record, theirs)) {
    path.break_down({Errc::kPeerLost, "the streams of the pair do not fit together"});
    return lose_peer(record, "its stream does not fit to ours (restored from another moment?)");
  }
  adopt_path(path, record);
  path.state = Path::State::kOpen;
  path.confirmed = path.dialled || path.keeps;
  path.probe_due =
      path.dialled && !path.keeps;  // the first frame, which confirms it to the acceptor
  record.rx.ack_wanted = true;      // credit given back on a path that was lost is told again
  path.endpoint->trust();
  path.heard = core_.now;
  path.peer_next = theirs.next_expected;
  path.id = theirs.path;
  path.handshake.reset();
  remember(record, theirs);
  record.dial_delay = 0;
  record.failed_until.clear();
  record.lost_paths.erase(path.slot.name());
  core_.returning.note_open(record, path.slot);
  if (path.keeps && !record.tx.window)
    record.tx.window = std::make_unique<Window>(core_.config.settings.window_bytes);
  ++record.generation;
  log(LogLevel::kInfo, "engine", "path to %s by %s is open: %s", record.name().c_str(),
      path.slot.name().c_str(), path.endpoint->describe().c_str());
  elect(record);
  if (path.told_addresses != addresses_version_ && record.process != core_.config.process)
    core_.sender.queue_addresses(record, encode_addresses(own_addresses()));
  core_.sender.mark_dirty(record);
}

// What a peer has proved to be, and has told of itself.
void Bml::remember(Peer& record, const HelloFacts& theirs) noexcept {
  record.label = theirs.label;
  record.node = node_name(theirs.node);
  record.addresses.clear();  // what it names no more, it has no more
  for (const auto& address : theirs.addresses)
    record.addresses[address.transport] = address.address;
  Returning::note_addresses(record);
  record.tx.credit_bytes = theirs.credit_bytes;
  record.tx.credit_headers = theirs.credit_headers;
  const bool news = theirs.node != core_.config.node && !spans_nodes_.exchange(true);
  if (news && core_.switching.signal) core_.switching.signal();  // the agent has something to do
}

// A dialler's path is its peer's already; an acceptor's moves over from the strangers, and ends
// what it replaces.
void Bml::adopt_path(Path& path, Peer& record) noexcept {
  if (path.dialled) return;
  const auto stranger = std::find_if(strangers_.begin(), strangers_.end(),
                                     [&](const auto& each) { return each.get() == &path; });
  LIVEBTL_ASSERT(stranger != strangers_.end(), "an accepted path is a stranger until it is open");
  if (record.process != core_.config.process) {
    for (auto& other : record.paths) {
      if (&other->slot == &path.slot && other->state != Path::State::kDown)
        other->break_down({Errc::kDown, "the peer replaced this path by a new one"});
    }
  }
  path.peer = &record;
  record.paths.push_back(std::move(*stranger));
  strangers_.erase(stranger);
}

}  // namespace livebtl::core
