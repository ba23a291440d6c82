// SPDX-License-Identifier: BSD-3-Clause
// control/agent/router.cc -- see router.h.
#include "control/agent/router.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/log.h"
#include "base/process_files.h"
#include "control/client/discovery.h"
#include "control/wire/messages.h"

namespace livebtl::control {
namespace {

constexpr int kRouterSocketsMax = 256;
constexpr std::size_t kAnswersMax = 1024;
// What libzmq takes at once: to start, and for the connections of a few commands.
constexpr rlim_t kDescriptorsToStart = 32;
constexpr rlim_t kDescriptorsToAccept = 16;
constexpr TimeNs kDescriptorsEvery = 10 * kMillisecond;

/// Are `count` descriptors left? Judged by the lowest that is free.
bool descriptors_left(rlim_t count) noexcept {
  rlimit limit{};
  const Fd lowest(::eventfd(0, EFD_CLOEXEC));
  if (!lowest || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY ||
         static_cast<rlim_t>(lowest.number()) + count <= limit.rlim_cur;
}

}  // namespace

Router::Router(const JobFacts& job, ProcessId self, std::unique_ptr<zmq::context_t> context,
               ZmqSocket local)
    : job_(job), self_(self), context_(std::move(context)), local_(std::move(local)) {}

Result<Router> Router::open(const JobFacts& job, ProcessId self) {
  if (!descriptors_left(kDescriptorsToStart)) {
    return fail(Errc::kNoMemory,
                "fewer than " + std::to_string(kDescriptorsToStart) +
                    " descriptors are left for the control agent; raise ulimit -n");
  }
  auto made = make_zmq_context(kRouterSocketsMax);
  if (!made) return tl::unexpected(made.error());
  auto context = std::make_unique<zmq::context_t>(std::move(*made));
  const std::string path = socket_path(job.directory, self);
  auto local = ZmqSocket::listen(*context, "ipc://" + path, Secret());
  if (!local) return tl::unexpected(local.error());
  ::chmod(path.c_str(), 0600);
  return Router(job, self, std::move(context), std::move(*local));
}

void Router::turn(TimeNs now) {
  passing_.close_idle(now);
  questions_.close_idle(now);
  mind_descriptors(now);
}

void Router::mind_descriptors(TimeNs now) {
  if (now < descriptors_due_) return;
  descriptors_due_ = now + kDescriptorsEvery;
  const bool hide = !descriptors_left(kDescriptorsToAccept);
  if (hide == hidden_) return;
  const std::string path = socket_path(job_.directory, self_);
  const std::string aside = job_.directory + "/" + process_file(self_, kHiddenSocket);
  const int moved =
      hide ? std::rename(path.c_str(), aside.c_str()) : std::rename(aside.c_str(), path.c_str());
  if (moved != 0) return;
  hidden_ = hide;
  if (hide) {
    log(LogLevel::kWarn, "agent",
        "hardly a descriptor is left in this process (ulimit -n): btlctl cannot reach it until "
        "some are closed");
  }
}

Result<std::string> Router::open_relay(const std::vector<std::string>& addresses) {
  if (job_.secret.present()) {
    auto gate = ZmqGate::open(*context_, job_.secret);
    if (!gate) return tl::unexpected(gate.error());
    gate_ = std::move(*gate);
  }
  auto socket = ZmqSocket::listen(*context_, "tcp://" + addresses.front() + ":*", job_.secret);
  if (!socket) return tl::unexpected(socket.error());
  const std::string endpoint = socket->endpoint();  // of IPv4 in the words of IPv6
  const std::string port = endpoint.substr(endpoint.rfind(':'));
  std::string relay = "tcp://" + addresses.front() + port;
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    const std::string other = "tcp://" + addresses[i] + port;
    if (valid_relay(relay + "," + other) && socket->also_listen(other)) relay += "," + other;
  }
  relay_ = std::move(*socket);
  relay_name_ = relay;
  return relay;
}

ZmqSocket* Router::listener(std::uint8_t number) {
  if (number == kLocal) return &*local_;
  return number == kRelay && relay_ ? &*relay_ : nullptr;
}

std::optional<Router::Incoming> Router::receive() {
  if (gate_) gate_->serve();
  passing_.each([this](ZmqSocket& socket) {
    while (auto envelope = socket.receive()) bring_back(*envelope);
  });
  questions_.each([this](ZmqSocket& socket) {
    while (auto envelope = socket.receive()) take_answer(std::move(*envelope));
  });
  for (const std::uint8_t number : {kLocal, kRelay}) {
    ZmqSocket* socket = listener(number);
    if (socket == nullptr) continue;
    while (auto envelope = socket->receive()) {
      if (auto incoming = take(number, std::move(*envelope))) return incoming;
    }
  }
  return std::nullopt;
}

std::optional<Router::Incoming> Router::take(std::uint8_t from, Envelope envelope) {
  auto route = parse_route(envelope.to);
  if (!route) {
    refuse(from, envelope, "the message's address is malformed");
    return std::nullopt;
  }
  if (route->relay == relay_name_) route->relay.clear();  // a sender that used another name of ours
  const bool here = route->relay.empty();
  if (here && (route->process == ProcessId{} || route->process == self_)) {
    return Incoming{{from, std::move(envelope.peer), std::move(envelope.back)},
                    std::move(envelope.body)};
  }
  // A client outside the job's nodes speaks to all of them by one relay. An envelope names at most one
  // relay more, so none goes round in circles; and nothing is forwarded for unauthenticated clients.
  if (!here && from == kRelay && !job_.secret.present()) {
    refuse(from, envelope,
           "without authentication a relay passes messages on within its node only");
    return std::nullopt;
  }
  pass_on(from, envelope, *route);
  return std::nullopt;
}

void Router::pass_on(std::uint8_t from, const Envelope& envelope, const Route& route) {
  const auto back = push_return({from, envelope.peer, envelope.back});
  if (!back) return refuse(from, envelope, "the message has been passed on too often");
  if (route.relay.empty() && proved_gone(job_.directory, ::geteuid(), route.process)) {
    return refuse(from, envelope, process_name(route.process) + " has ended", Errc::kPeerLost);
  }
  if (route.relay.empty() && !lives_here(route.process)) {
    return refuse(from, envelope, "no member " + process_name(route.process) + " on this node");
  }
  const std::string endpoint = endpoint_of(route);
  Envelope onward{.peer = "", .back = *back, .to = "", .body = envelope.body};
  if (!route.relay.empty()) onward.to = format_route({"", route.process});
  ZmqSocket* socket = passing_.to(endpoint, *context_, job_.secret);
  if (socket == nullptr || !socket->send(onward)) {
    refuse(from, envelope, "cannot pass the message on to " + endpoint);
  }
}

bool Router::lives_here(ProcessId process) const {
  return ::access(socket_path(job_.directory, process).c_str(), F_OK) == 0;
}

std::string Router::endpoint_of(const Route& route) const {
  if (!route.relay.empty()) return route.relay;
  return "ipc://" + socket_path(job_.directory, route.process);
}

void Router::ask(const Route& to, ProcessId asked, const std::string& body) {
  ZmqSocket* socket = questions_.to(endpoint_of(to), *context_, job_.secret);
  if (socket == nullptr) return;
  const std::string onward = to.relay.empty() ? "" : format_route({"", to.process});
  socket->send({.peer = "", .back = process_name(asked), .to = onward, .body = body});
}

/// Answers beyond kAnswersMax are dropped; their questions are asked again.
void Router::take_answer(Envelope envelope) {
  const auto asked = parse_process_name(envelope.back, "");
  if (asked && answers_.size() < kAnswersMax)
    answers_.push_back({*asked, std::move(envelope.body)});
}

std::optional<Router::Answered> Router::next_answer() {
  if (answers_.empty()) return std::nullopt;
  Answered answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void Router::bring_back(const Envelope& envelope) {
  const auto to = pop_return(envelope.back);
  ZmqSocket* socket = to ? listener(to->listener) : nullptr;
  if (socket == nullptr) return;
  socket->send({.peer = to->peer, .back = to->back, .to = envelope.to, .body = envelope.body});
}

void Router::answer(const Return& to, const std::string& body) {
  ZmqSocket* socket = listener(to.listener);
  if (socket == nullptr) return;
  socket->send({.peer = to.peer, .back = to.back, .to = process_name(self_), .body = body});
}

void Router::refuse(std::uint8_t from, const Envelope& envelope, std::string text, Errc code) {
  const auto body = encode(ErrorAnswer{code, std::move(text)});
  if (body) answer({from, envelope.peer, envelope.back}, *body);
}

void Router::add_poll_fds(std::vector<pollfd>& fds) const {
  const auto add = [&fds](int fd) { fds.push_back({fd, POLLIN, 0}); };
  add(local_->fd());
  if (relay_) add(relay_->fd());
  if (gate_) add(gate_->fd());
  const auto add_socket = [&add](const ZmqSocket& socket) { add(socket.fd()); };
  passing_.each(add_socket);
  questions_.each(add_socket);
}

bool Router::pending() const {
  if (local_->pending() || (relay_ && relay_->pending()) || (gate_ && gate_->pending()))
    return true;
  bool any = false;
  const auto look = [&any](const ZmqSocket& socket) { any = any || socket.pending(); };
  passing_.each(look);
  questions_.each(look);
  return any;
}

}  // namespace livebtl::control
