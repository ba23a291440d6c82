// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/server.h -- answers GET /metrics, with cpp-httplib (docs/adr/0069).
//
// Threads: one that accepts and a few that answer, all of this class; one at a time asks for the
// text. As with every exporter, all who reach the address may read, so requests are hostile: a
// connection as a whole is bounded in size and in time (bounded_stream.h), and is closed after its
// answer.
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

class BoundedServer;  // cpp-httplib's, kept out of this header

class MetricsServer {
 public:
  /// The current metrics. A request is answered with an error's text.
  using Look = std::function<Result<std::string>(MetricsForm form)>;

  explicit MetricsServer(Look look);
  ~MetricsServer();  // finishes answers that have begun, in bounded time
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Errors: kSystem: the address is in use, is not this machine's, or may not be listened on.
  Status listen(const control::HostPort& where);

 private:
  Look look_;
  std::mutex looking_;
  std::unique_ptr<BoundedServer> server_;
  std::latch running_{1};
  std::thread acceptor_;
};

}  // namespace livebtl::tool
