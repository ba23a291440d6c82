// SPDX-License-Identifier: BSD-3-Clause
// control/agent/router.cc -- see router.h.
#include "control/agent/router.h"

#include <unistd.h>

#include "base/log.h"
#include "control/wire/messages.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kAnswersMax = 1024;

}  // namespace

Result<Router> Router::open(const JobFacts& job, ProcessId self) {
  auto door = LocalDoor::listen(socket_path(job.directory, self), kConnectionsMax);
  if (!door) return tl::unexpected(door.error());
  return Router(job, self, std::move(*door));
}

void Router::turn(TimeNs now) {
  questions_.close_idle(now);
  questions_.close_ended();
  if (relay_link_) relay_link_->turn(now);
  door_.turn(now);
  if (door_.starved() && !said_starved_) {
    log(LogLevel::kWarn, "agent",
        "no descriptor is left in this process (ulimit -n): btlctl cannot reach it until some are "
        "closed");
  }
  said_starved_ = door_.starved();
}

TimeNs Router::wake_at() const noexcept {
  const TimeNs relay = relay_link_ ? relay_link_->wake_at() : INT64_MAX;
  return std::min({questions_.due_at(), door_.wake_at(), relay});
}

std::optional<Router::Incoming> Router::receive() {
  take_answers();
  while (auto envelope = door_.receive()) {
    if (auto incoming = take(std::move(*envelope))) return incoming;
  }
  for (std::string& peer : door_.ended()) {
    if (helpers_.erase(peer) != 0) take_note({std::move(peer), std::nullopt});
  }
  return std::nullopt;
}

std::optional<Router::Incoming> Router::take(Envelope envelope) {
  if (envelope.to == kFinisherNote) {
    helpers_.insert(envelope.peer);
    take_note({std::move(envelope.peer), std::move(envelope.body)});
    return std::nullopt;
  }
  const auto route = parse_route(envelope.to);
  if (!route) {
    refuse(envelope, "the message's address is malformed");
    return std::nullopt;
  }
  if (!route->relay.empty() || (route->process != ProcessId{} && route->process != self_)) {
    refuse(envelope, "a member passes nothing on; its node's relay does");
    return std::nullopt;
  }
  return Incoming{{kLocal, std::move(envelope.peer), std::move(envelope.back)},
                  std::move(envelope.body)};
}

/// Beyond kNotesMax the oldest notes are dropped: whoever sends so many is no helper of ours.
void Router::take_note(Note note) {
  if (notes_.size() == kNotesMax) notes_.pop_front();
  notes_.push_back(std::move(note));
}

std::optional<Router::Note> Router::next_note() {
  if (notes_.empty()) return std::nullopt;
  Note note = std::move(notes_.front());
  notes_.pop_front();
  return note;
}

void Router::take_answers() {
  questions_.each([this](LocalLink& link) {
    link.flush();
    while (auto envelope = link.receive()) take_answer(std::move(*envelope), false);
  });
  while (relay_link_) {
    auto envelope = relay_link_->receive();
    if (!envelope) return;
    take_answer(std::move(*envelope), true);
  }
}

/// Answers beyond kAnswersMax are dropped; their questions are asked again.
void Router::take_answer(Envelope envelope, bool by_relay) {
  const auto asked = parse_process_name(envelope.back, "");
  if (asked && answers_.size() < kAnswersMax)
    answers_.push_back({*asked, by_relay, std::move(envelope.body)});
}

std::optional<Router::Answered> Router::next_answer() {
  if (answers_.empty()) return std::nullopt;
  Answered answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

bool Router::lives_here(ProcessId process) const {
  return ::access(socket_path(job_.directory, process).c_str(), F_OK) == 0;
}

void Router::ask(const Route& to, ProcessId asked, const std::string& body) {
  Envelope question{.peer = "", .back = process_name(asked), .to = "", .body = body};
  if (!to.relay.empty()) {
    question.to = format_route(to);
    if (relay_link_) relay_link_->send(question);
    return;
  }
  LocalLink* link = questions_.to(socket_path(job_.directory, to.process), LocalLink::connect);
  if (link != nullptr) link->send(question);
}

void Router::answer(const Return& to, const std::string& body) {
  door_.send({.peer = to.peer, .back = to.back, .to = process_name(self_), .body = body});
}

void Router::refuse(const Envelope& envelope, std::string text) {
  const auto body = encode(ErrorAnswer{Errc::kUnreachable, std::move(text)});
  if (body) answer({kLocal, envelope.peer, envelope.back}, *body);
}

void Router::add_poll_fds(std::vector<pollfd>& fds) const {
  door_.add_poll_fds(fds);
  if (relay_link_) relay_link_->add_poll_fds(fds);
  questions_.each([&fds](const LocalLink& link) { fds.push_back(link.wanted()); });
}

}  // namespace livebtl::control
