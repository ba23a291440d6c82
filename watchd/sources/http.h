// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/http.h -- requests to a metadata server: plain HTTP to one place, bounded in time and length, no
// redirection, no proxy. Any thread; owns nothing between two requests.
#pragma once

#include <map>
#include <memory>
#include <mutex>

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
  explicit Http(std::string url) : url_(std::move(url)) {}

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
  Result<Answer> call(const Call& what);

  const std::string url_;
  std::mutex mutex_;
  std::vector<httplib::Client*> active_;  // of calls under way
  bool stopped_ = false;
};

}  // namespace livebtl::watchd
