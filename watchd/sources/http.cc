// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/http.cc -- see http.h. By cpp-httplib; docs/adr/0060.
#include "watchd/sources/http.h"

#include <httplib.h>

#include <algorithm>

#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kConnectTimeout = 5 * kSecond;

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

tl::unexpected<Error> http_error(const std::string& url, httplib::Error error) {
  const std::string text = url + ": " + httplib::to_string(error);
  const bool unconnected = error == httplib::Error::Connection ||
                           error == httplib::Error::ConnectionTimeout ||
                           error == httplib::Error::BindIPAddress;
  return fail(unconnected ? Errc::kDown : Errc::kTimeout, text);
}

}  // namespace

Result<Answer> Http::call(const Call& what) {
  httplib::Client client(url_);
  set_up(client, what.timeout);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(Errc::kDown, url_ + ": not asked, since livebtl-watchd ends");
    active_.push_back(&client);
  }
  // A server that sends a byte now and then would never meet a time-out of single reads.
  const TimeNs until = monotonic_now() + what.timeout;
  httplib::Request request = request_of(what.method, what.path, what.headers, what.body);
  bool too_long = false;
  std::string body;
  request.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    too_long = too_long || body.size() + length > kAnswerBytesMax;
    if (!too_long) body.append(data, length);
    return !too_long && monotonic_now() < until;
  };
  const auto result = client.send(request);
  {
    const std::lock_guard lock(mutex_);
    std::erase(active_, &client);
  }
  if (too_long) return fail(Errc::kLimit, url_ + ": the answer is too long");
  if (!result) return http_error(url_, result.error());
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
  for (httplib::Client* client : active_) client->stop();
}

}  // namespace livebtl::watchd
