// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/http.h -- requests to a metadata server: plain HTTP to one place, bounded in time
// and length, no redirection, no proxy. Any thread. Owns a thread, which ends requests beyond their
// bounds, and nothing else between two requests.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "livebtl/result.h"
#include "watchd/events/notice.h"

namespace httplib {
class Client;
}

namespace livebtl::watchd {

using Headers = std::map<std::string, std::string>;

struct Answer {
  int status = 0;
  std::string body;
};

class Http {
 public:
  /// url: http://HOST or http://HOST:PORT.
  explicit Http(std::string url);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  /// Errors: kDown: no connection, so that nothing was asked; kTimeout: no answer, or not a whole one, in time; kLimit.
  Result<Answer> get(const std::string& path, const Headers& headers, TimeNs timeout);
  Result<Answer> put(const std::string& path, const Headers& headers, TimeNs timeout);
  Result<Answer> post(const std::string& path, const Headers& headers, const std::string& body,
                      TimeNs timeout);
  /// Ends requests, those under way and those to come.
  void stop();

 private:
  struct Call {
    const char* method;
    const std::string& path;
    const Headers& headers;
    const std::string& body;
    TimeNs timeout;
  };
  struct UnderWay;
  Result<Answer> call(const Call& what);
  bool begin(UnderWay& request, httplib::Client& client);
  void end(UnderWay& request);
  void watch();

  const std::string url_;
  std::mutex mutex_;                  // guards what follows
  std::condition_variable changed_;   // a request has begun, or the thread is to end
  std::vector<UnderWay*> under_way_;  // each is its caller's
  bool stopped_ = false;              // no request begins any more
  bool over_ = false;                 // the thread is to end
  std::thread watcher_;
};

}  // namespace livebtl::watchd
