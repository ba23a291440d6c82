// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/socket_test.cc -- the socket at which programs announce events, when
// descriptors are scarce: in real time.
#include "watchd/sources/socket.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

/// While it lives, no descriptor can be opened.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const Fd lowest(::dup(0));
    REQUIRE(lowest);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest.number());
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

Fd client_of(const std::string& path) {
  Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::copy(path.begin(), path.end(), address.sun_path);
  REQUIRE(::connect(client.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
          0);
  return client;
}

/// A socket in a directory of its own.
struct Listening {
  Listening() {
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    auto made = SocketSource::listen(path());
    REQUIRE(made);
    source = std::move(*made);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/socket"; }

  std::string folder = "/tmp/livebtl-watchd-XXXXXX";
  std::unique_ptr<SocketSource> source;
};

/// Do three looks without a descriptor end, with no notice? A look that keeps retrying the client
/// is stopped.
bool looks_end(SocketSource& source) {
  std::promise<void> looked;
  auto watch = std::async(std::launch::async, [&source, end = looked.get_future()]() mutable {
    const bool in_time = end.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    if (!in_time) source.stop();
    return in_time;
  });
  bool silent = true;
  {
    const NoDescriptors none;
    for (int i = 0; i < 3; ++i) {
      const auto report = source.look();
      silent = silent && report && report->notices.empty();
    }
  }
  looked.set_value();
  return watch.get() && silent;
}

}  // namespace

TEST_CASE("a client for whom there is no descriptor waits, and costs no time until there is one") {
  const Listening at;
  const Fd client = client_of(at.path());
  constexpr std::string_view kLine = "{\"event\":\"move\",\"kind\":\"migrate\"}\n";
  REQUIRE(::send(client.number(), kLine.data(), kLine.size(), 0) ==
          static_cast<ssize_t>(kLine.size()));
  CHECK(looks_end(*at.source));
  TimeNs until = monotonic_now() + 20 * kSecond;
  std::size_t heard = 0;
  while (heard == 0 && monotonic_now() < until) heard = at.source->look()->notices.size();
  CHECK(heard == 1);
}

TEST_CASE("an event that is announced anew right after it was over is not over") {
  const Listening at;
  const Fd client = client_of(at.path());
  const auto heard = [&](std::string_view lines) {
    REQUIRE(::send(client.number(), lines.data(), lines.size(), 0) ==
            static_cast<ssize_t>(lines.size()));
    const TimeNs until = monotonic_now() + 20 * kSecond;
    Report report = at.source->look().value();
    while (report.notices.empty() && report.ended.empty() && monotonic_now() < until)
      report = at.source->look().value();
    return report;
  };
  const Report anew = heard("{\"event\":\"m1\",\"over\":true}\n{\"event\":\"m1\",\"in_s\":60}\n");
  CHECK(anew.ended.empty());
  CHECK(anew.notices.size() == 1);
  const Report over = heard("{\"event\":\"m1\",\"in_s\":60}\n{\"event\":\"m1\",\"over\":true}\n");
  CHECK(over.ended == std::vector<std::string>{"m1"});
}

namespace {

/// How many lines with this word a client was sent so far.
std::size_t lines_with(const Fd& client, std::string_view word) {
  std::string text(64 * 1024, '\0');
  const ssize_t bytes = ::recv(client.number(), text.data(), text.size(), MSG_DONTWAIT);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++lines;
  return lines;
}

}  // namespace

TEST_CASE("who announces more events than are taken at once is told which") {
  const Listening at;
  constexpr std::size_t kEach = 60;
  std::vector<Fd> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(client_of(at.path()));
  REQUIRE(at.source->look());  // accepts them all
  for (std::size_t i = 0; i < clients.size(); ++i) {
    std::string lines;
    for (std::size_t event = 0; event < kEach; ++event)
      lines += "{\"event\":\"m" + std::to_string(i * kEach + event) + "\",\"in_s\":60}\n";
    REQUIRE(::send(clients[i].number(), lines.data(), lines.size(), 0) ==
            static_cast<ssize_t>(lines.size()));
  }
  CHECK(at.source->look()->notices.size() == kNoticesMax);
  std::size_t refused = 0;
  for (const Fd& client : clients) refused += lines_with(client, "too many events");
  CHECK(refused == clients.size() * kEach - kNoticesMax);
}
