// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/http.cc -- see http.h. By cpp-httplib; docs/adr/0060.
#include "watchd/sources/http.h"

#include <fcntl.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/fd.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kConnectTimeout = 5 * kSecond;
constexpr TimeNs kLook = 50 * kMillisecond;  // how often requests are checked against bounds
constexpr std::uint64_t kReceivedBytesMax = kAnswerBytesMax + (std::uint64_t{1} << 16);

std::chrono::nanoseconds duration(TimeNs time) { return std::chrono::nanoseconds(time); }

void set_up(httplib::Client& client, TimeNs timeout) {
  client.set_connection_timeout(std::chrono::duration_cast<std::chrono::microseconds>(
      duration(std::min(timeout, kConnectTimeout))));
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(duration(timeout));
  client.set_read_timeout(whole);
  client.set_write_timeout(whole);
  client.set_follow_location(false);
  client.set_keep_alive(false);
  client.set_decompress(false);
}

httplib::Request request_of(const char* method, const std::string& path, const Headers& headers,
                            const std::string& body) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers.insert(headers.begin(), headers.end());
  request.body = body;
  return request;
}

bool is_unconnected(httplib::Error error) {
  return error == httplib::Error::Connection || error == httplib::Error::ConnectionTimeout ||
         error == httplib::Error::BindIPAddress;
}

/// As in Linux's struct tcp_info; glibc's ends before the last member.
struct TcpFacts {
  std::array<unsigned char, 128> others;
  std::uint64_t bytes_received;
};

/// All bytes that the connection received, with headers.
std::uint64_t received_by(const Fd& connection) {
  TcpFacts facts{};
  socklen_t size = sizeof facts;
  const bool known = ::getsockopt(connection.number(), IPPROTO_TCP, TCP_INFO, &facts, &size) == 0;
  return known && size == sizeof facts ? facts.bytes_received : 0;
}

}  // namespace

/// The library bounds only single reads, and neither the time nor the length of what precedes a
/// body. So the watcher ends the connection, for which it has its own descriptor.
struct Http::UnderWay {
  TimeNs until;
  Fd connection = {};
  bool cut = false, too_long = false;  // by the watcher
};

Http::Http(std::string url) : url_(std::move(url)), watcher_([this] { watch(); }) {}

Http::~Http() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void Http::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    for (UnderWay* request : under_way_) {
      if (!request->connection) continue;
      request->too_long = request->too_long || received_by(request->connection) > kReceivedBytesMax;
      request->cut =
          request->cut || request->too_long || stopped_ || monotonic_now() >= request->until;
      if (request->cut) ::shutdown(request->connection.number(), SHUT_RDWR);
    }
    if (under_way_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, duration(kLook));
    }
  }
}

/// false: no request may begin any more.
bool Http::begin(UnderWay& request, httplib::Client& client) {
  client.set_socket_options([this, &request](int connection) {
    const std::lock_guard lock(mutex_);
    request.connection = Fd(::fcntl(connection, F_DUPFD_CLOEXEC, 0));
  });
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  under_way_.push_back(&request);
  changed_.notify_all();
  return true;
}

void Http::end(UnderWay& request) {
  const std::lock_guard lock(mutex_);
  std::erase(under_way_, &request);
}

Result<Answer> Http::call(const Call& what) {
  httplib::Client client(url_);
  set_up(client, what.timeout);
  UnderWay under_way{monotonic_now() + what.timeout};
  if (!begin(under_way, client))
    return fail(Errc::kDown, url_ + ": not asked, since livebtl-watchd ends");
  httplib::Request request = request_of(what.method, what.path, what.headers, what.body);
  bool too_long = false;
  std::string body;
  request.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    too_long = too_long || body.size() + length > kAnswerBytesMax;
    if (!too_long) body.append(data, length);
    return !too_long;
  };
  const auto result = client.send(request);
  end(under_way);
  if (too_long || under_way.too_long) return fail(Errc::kLimit, url_ + ": the answer is too long");
  if (!result && is_unconnected(result.error()))
    return fail(Errc::kDown, url_ + ": " + httplib::to_string(result.error()));
  // A cut answer may look whole, if it does not state its length.
  if (under_way.cut) return fail(Errc::kTimeout, url_ + ": the answer was not whole in time");
  if (!result) return fail(Errc::kTimeout, url_ + ": " + httplib::to_string(result.error()));
  return Answer{result->status, std::move(body)};
}

Result<Answer> Http::get(const std::string& path, const Headers& headers, TimeNs timeout) {
  return call({"GET", path, headers, "", timeout});
}

Result<Answer> Http::put(const std::string& path, const Headers& headers, TimeNs timeout) {
  return call({"PUT", path, headers, "", timeout});
}

Result<Answer> Http::post(const std::string& path, const Headers& headers, const std::string& body,
                          TimeNs timeout) {
  return call({"POST", path, headers, body, timeout});
}

void Http::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace livebtl::watchd
