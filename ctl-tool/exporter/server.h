// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/server.h -- answers GET /metrics, by cpp-httplib (docs/adr/0069).
//
// Threads: one that accepts and a few that answer, all of this class; the text is asked for by one at a time. As with
// every exporter, all who reach the address may read, so requests are hostile: a connection is bounded in size and in time
// as a whole (bounded_stream.h), and is closed after its answer.
#pragma once

#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "control/client/relay_address.h"
#include "ctl-tool/metrics_text.h"

namespace livebtl::tool {

class BoundedServer;  // cpp-httplib's, which this header does not bring

class MetricsServer {
 public:
  /// What the metrics are now. An error's text is what a request is answered.
  using Look = std::function<Result<std::string>(MetricsForm form)>;

  explicit MetricsServer(Look look);
  ~MetricsServer();  // answers what has begun: that takes a bounded time
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Errors: kSystem: the address is in use, is not of this machine, or may not be listened on.
  Status listen(const control::HostPort& where);

 private:
  Look look_;
  std::mutex looking_;
  std::unique_ptr<BoundedServer> server_;
  std::latch running_{1};
  std::thread acceptor_;
};

}  // namespace livebtl::tool
