// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/socket.cc -- see socket.h. What clients send is hostile: bounded, and only root and livebtl-watchd's own
// user are heard.
#include "watchd/sources/socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/json.h"
#include "base/log.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr std::size_t kClientsMax = 32;
constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kEventsOfClientMax = 64;
constexpr std::size_t kEventsKeptMax = 1024;
constexpr int kLookMs = 500;
constexpr int kStarvedMs = 100;

bool may_speak(const Fd& connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

/// A client that does not read loses what it is told, and is dropped.
bool say(const Fd& connection, const Json& line) {
  const std::string text = line.dump() + "\n";
  return ::send(connection.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(text.size());
}

Json state_line(const Entry& entry) {
  return {{"event", entry.notice.id},
          {"state", state_name(entry.state)},
          {"text", plain_text(entry.text)}};
}

tl::unexpected<Error> socket_error(const std::string& path, const char* what) {
  return fail(errno == EACCES ? Errc::kAuth : Errc::kSystem,
              path + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<SocketSource>> SocketSource::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(Errc::kInvalid, path + " is too long for a socket; give a shorter SOCKET");
  std::copy(path.begin(), path.end(), address.sun_path);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) ::unlink(path.c_str());
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return socket_error(path, "no socket");
  // 0600 from the first moment; no other file is made in between.
  const mode_t before = ::umask(0177);
  const int bound =
      ::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0 || ::listen(listener.number(), 8) != 0)
    return socket_error(path, "cannot listen on it");
  std::unique_ptr<SocketSource> source(new SocketSource(path, std::move(listener)));
  if (!source->bell_.usable()) return socket_error(path, "no eventfd");
  return source;
}

SocketSource::~SocketSource() { ::unlink(path_.c_str()); }

void SocketSource::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  bell_.ring();
}

void SocketSource::note(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  states_.push_back(entry);
  bell_.ring();
}

/// false: there is no descriptor for a client. It stays in the listener's queue, which would be
/// readable all the time and so is not polled until accepts_from_.
bool SocketSource::accept_one() {
  Fd connection(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return true;
    const int why = errno;
    accepts_from_ = monotonic_now() + kStarvedMs * kMillisecond;
    if (starved_.allow(monotonic_now()))
      log(LogLevel::kWarn, name(),
          "a client cannot be accepted: %s; retrying; if this goes on, raise LimitNOFILE=",
          std::strerror(why));
    return false;
  }
  if (clients_.size() >= kClientsMax || !may_speak(connection)) {
    say(connection,
        {{"error", "only root and livebtl-watchd's own user are heard, and few at once"}});
    return true;
  }
  clients_.push_back({std::move(connection)});
  return true;
}

/// false: drop the client.
bool SocketSource::take_line(Client& client, std::string_view line, Report& report) {
  auto read = read_socket_line(line, static_cast<UnixNs>(unix_now_ns()));
  if (!read) return say(client.connection, {{"error", read.error().text}});
  const std::string& id = read->notice.id;
  if (std::find(client.events.begin(), client.events.end(), id) == client.events.end()) {
    if (client.events.size() >= kEventsOfClientMax) return false;
    client.events.push_back(id);
    if (const auto known = last_.find(id); known != last_.end())
      say(client.connection, state_line(known->second));
  }
  if (read->over) {
    report.ended.push_back(id);
    return true;
  }
  if (report.notices.size() >= kNoticesMax)
    return say(client.connection,
               {{"event", id}, {"error", "too many events at once; send it again"}});
  std::erase(report.ended, id);  // announced again right after it was over: the last word holds
  report.notices.push_back(std::move(read->notice));
  return true;
}

bool SocketSource::serve(Client& client, Report& report) {
  std::array<char, kLineBytesMax> part{};
  const ssize_t count = ::recv(client.connection.number(), part.data(), part.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  client.received.append(part.data(), static_cast<std::size_t>(count));
  for (std::size_t end; (end = client.received.find('\n')) != std::string::npos;) {
    const std::string line = client.received.substr(0, end);
    client.received.erase(0, end + 1);
    if (line.size() > kLineBytesMax || !take_line(client, line, report)) return false;
  }
  return client.received.size() <= kLineBytesMax;
}

void SocketSource::keep(const Entry& entry) {
  if (entry.state == State::kReturned) {
    last_.erase(entry.notice.id);
  } else if (last_.size() < kEventsKeptMax || last_.contains(entry.notice.id)) {
    last_[entry.notice.id] = entry;
  }
}

void SocketSource::tell_states() {
  std::deque<Entry> states;
  {
    const std::lock_guard lock(mutex_);
    states.swap(states_);
  }
  for (const Entry& entry : states) {
    keep(entry);
    std::erase_if(clients_, [&entry](const Client& client) {
      const auto& events = client.events;
      if (std::find(events.begin(), events.end(), entry.notice.id) == events.end()) return false;
      return !say(client.connection, state_line(entry));
    });
  }
}

/// comes: there is a new client.
void SocketSource::wait_until_ready(std::vector<bool>& ready, bool& comes) {
  const bool starved = monotonic_now() < accepts_from_;
  std::vector<pollfd> watched = {{bell_.fd(), POLLIN, 0},
                                 {starved ? -1 : listener_.number(), POLLIN, 0}};
  for (const Client& client : clients_) watched.push_back({client.connection.number(), POLLIN, 0});
  ::poll(watched.data(), watched.size(), starved ? kStarvedMs : kLookMs);
  if (watched[0].revents != 0) bell_.silence();
  comes = watched[1].revents != 0;
  for (std::size_t i = 2; i < watched.size(); ++i) ready.push_back(watched[i].revents != 0);
}

/// What the report does not name is not over: only its client says so.
Result<Report> SocketSource::look() {
  Report report{.source = name(), .whole = false};
  while (report.notices.empty() && report.ended.empty()) {
    std::vector<bool> ready;
    bool comes = false;
    wait_until_ready(ready, comes);
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return report;
    }
    std::vector<Client> kept;
    for (std::size_t i = 0; i < clients_.size(); ++i)
      if (!ready[i] || serve(clients_[i], report)) kept.push_back(std::move(clients_[i]));
    clients_ = std::move(kept);
    if (comes) comes = accept_one();
    tell_states();
    if (std::all_of(ready.begin(), ready.end(), [](bool each) { return !each; }) && !comes) break;
  }
  return report;
}

}  // namespace livebtl::watchd
